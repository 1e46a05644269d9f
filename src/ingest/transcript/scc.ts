import type { Cue } from "../../types.ts";
import { type ParsedCues, splitLines } from "./cue-text.ts";

/*
 * Scenarist Closed Captions: lines of a time code and of words of CEA-608, each of two bytes with a
 * parity bit. Reads the first channel.
 */

const LINE = /^\s*(\d{2}):(\d{2}):(\d{2})([:;.])(\d{2})\s+((?:[\da-f]{4}\s*)+)$/i;
const FPS = 30_000 / 1001;

/** Bits of a preamble address code that tell its row. */
const ROW_BITS = 0x07_20;

/** Characters that differ from ASCII (CEA-608, table 49). */
const BASIC: Record<number, string> = {
  0x27: "’",
  0x2a: "á",
  0x5c: "é",
  0x5e: "í",
  0x5f: "ó",
  0x60: "ú",
  0x7b: "ç",
  0x7c: "÷",
  0x7d: "Ñ",
  0x7e: "ñ",
  0x7f: "█",
};
const SPECIAL = Array.from("®°½¿™¢£♪à\u00A0èâêîôû");
/** Replace the character before them. */
const EXTENDED: Record<number, string[]> = {
  0x12: Array.from("ÁÉÓÚÜü‘¡*’—©℠•“”ÀÂÇÈÊËëÎÏïÔÙùÛ«»"),
  0x13: Array.from("ÃãÍÌìÒòÕõ{}\\^_|~ÄäÖöß¥¤¦ÅåØø┌┐└┘"),
};

export function isScc(text: string): boolean {
  return (
    /^\s*Scenarist_SCC/i.test(text) ||
    splitLines(text.slice(0, 4000)).some((line) => LINE.test(line))
  );
}

/** What a decoder of captions shows and holds. */
interface CaptionDecoder {
  mode: "pop" | "roll" | "paint";
  hidden: string;
  shown: Cue | null;
  /** Row that is written, and rows of what is shown, as bits of their address. */
  row: number;
  shownRows: Set<number>;
  cues: Cue[];
}

export function parseScc(text: string): ParsedCues {
  const decoder: CaptionDecoder = {
    mode: "pop",
    hidden: "",
    shown: null,
    row: 0,
    shownRows: new Set(),
    cues: [],
  };
  const badLines: number[] = [];
  for (const [i, line] of splitLines(text).entries()) {
    const match = LINE.exec(line);
    if (!match) {
      if (line.trim() !== "" && !/^\s*Scenarist_SCC/i.test(line)) badLines.push(i + 1);
      continue;
    }
    const words = match[6]!
      .trim()
      .split(/\s+/)
      .map((word) => Number.parseInt(word, 16) & 0x7f7f);
    const frame = toFrame(match);
    let before = 0; // a control code is sent twice
    for (const [i, word] of words.entries()) {
      const isRepeated = isControl(word) && word === before;
      before = isRepeated ? 0 : word;
      if (!isRepeated) decodeWord(decoder, word, Math.round(((frame + i) / FPS) * 1000) / 1000);
    }
  }
  endShown(decoder, NaN);
  return { cues: decoder.cues.filter((cue) => cue.text.trim() !== ""), badLines };
}

function isControl(word: number): boolean {
  return word >> 8 >= 0x10 && word >> 8 < 0x20;
}

/** Returns the frame number of a time code, of which drop frame skips numbers. */
function toFrame([, hours, minutes, seconds, mark, frames]: string[]): number {
  const totalMinutes = Number(hours) * 60 + Number(minutes);
  const number = (totalMinutes * 60 + Number(seconds)) * 30 + Number(frames);
  return mark === ":" ? number : number - 2 * (totalMinutes - Math.floor(totalMinutes / 10));
}

function decodeWord(decoder: CaptionDecoder, word: number, time: number): void {
  const [high, low] = [word >> 8, word & 0x7f];
  if (high >= 0x20) {
    append(decoder, toCharacter(high) + (low >= 0x20 ? toCharacter(low) : ""), time);
  } else if (high === 0x11 && low >= 0x30 && low <= 0x3f) {
    append(decoder, SPECIAL[low - 0x30]!, time);
  } else if ((high === 0x12 || high === 0x13) && low >= 0x20 && low < 0x40) {
    replaceLast(decoder, EXTENDED[high]![low - 0x20]!);
  } else if (high === 0x14 && low >= 0x20 && low < 0x30) {
    runCommand(decoder, low, time);
  } else if (high >= 0x10 && high < 0x18 && low >= 0x40) {
    decoder.row = word & ROW_BITS; // a preamble address code
    if (decoder.mode === "paint" && decoder.shownRows.has(decoder.row)) endShown(decoder, time);
    append(decoder, "\n", time);
  } else if (high === 0x11 && low >= 0x20 && low < 0x30) {
    append(decoder, " ", time); // a mid-row code takes the place of a blank
  }
}

function toCharacter(code: number): string {
  return BASIC[code] ?? String.fromCharCode(code);
}

function runCommand(decoder: CaptionDecoder, command: number, time: number): void {
  if (command === 0x20) decoder.mode = "pop";
  else if (command === 0x29) {
    endShown(decoder, time);
    decoder.mode = "paint";
  } else if (command >= 0x25 && command <= 0x27) {
    if (decoder.mode !== "roll") endShown(decoder, time);
    decoder.mode = "roll";
  } else if (command === 0x2c) endShown(decoder, time);
  else if (command === 0x2d) endShown(decoder, time);
  else if (command === 0x2e) decoder.hidden = "";
  else if (command === 0x2f) {
    endShown(decoder, time);
    decoder.shown = { start: time, end: NaN, text: decoder.hidden };
    decoder.hidden = "";
    decoder.mode = "pop";
  } else if (command === 0x21) replaceLast(decoder, "");
}

/** Characters of a screen of 15 rows of 32, and some more. */
const MAX_CHARACTERS = 600;

function append(decoder: CaptionDecoder, text: string, time: number): void {
  const { shown } = decoder;
  if (text.trim() !== "") decoder.shownRows.add(decoder.row);
  if (decoder.mode === "pop") decoder.hidden = (decoder.hidden + text).slice(-MAX_CHARACTERS);
  else if (shown) shown.text = (shown.text + text).slice(-MAX_CHARACTERS);
  else if (text.trim() !== "") decoder.shown = { start: time, end: NaN, text };
}

function replaceLast(decoder: CaptionDecoder, text: string): void {
  if (decoder.mode === "pop") decoder.hidden = decoder.hidden.slice(0, -1) + text;
  else if (decoder.shown) decoder.shown.text = decoder.shown.text.slice(0, -1) + text;
}

function endShown(decoder: CaptionDecoder, time: number): void {
  if (decoder.shown) decoder.cues.push({ ...decoder.shown, end: time });
  decoder.shown = null;
  decoder.shownRows.clear();
}
