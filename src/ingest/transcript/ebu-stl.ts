import { append } from "../../lists.ts";
import { normalizeText } from "../../normalize-text.ts";
import type { Cue } from "../../types.ts";
import type { ParsedCues } from "./cue-text.ts";

/*
 * EBU STL (https://tech.ebu.ch/docs/tech/tech3264.pdf): a block about the file (GSI), then blocks of
 * text and times (TTI), of which one or several make a subtitle.
 */

const GSI_BYTES = 1024;
const TTI_BYTES = 128;
const TEXT_START = 16;
const SIGNATURE = /^STL\d{2}\.\d{2}$/;

const LAST_EXTENSION = 0xff;
const USER_DATA = 0xfe;
const LINE_BREAK = 0x8a;
const PADDING = 0x8f;

/** Encodings by the number of their table. Others are read as Latin, table 0. */
const TABLES: Record<string, string> = {
  "01": "iso-8859-5",
  "02": "iso-8859-6",
  "03": "iso-8859-7",
  "04": "iso-8859-8",
};
/** Characters of ISO 6937 from A0 on. Marks, from C0 to CF, come before their letter. */
const LATIN = Array.from(
  "\u00A0¡¢£$¥#§¤‘“«←↑→↓°±²³×µ¶·÷’”»¼½¾¿" +
    "\uFFFD\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u0308\u030A\u0327\u0332\u030B\u0328\u030C" +
    "—¹®©™♪¬¦\uFFFD\uFFFD\uFFFD\uFFFD⅛⅜⅝⅞" +
    "ΩÆĐªĦ\uFFFDĲĿŁØŒºÞŦŊŉĸæđðħıĳŀłøœßþŧŋ\u00AD",
);
/** A subtitle, of which a block may follow. */
interface StlSubtitle {
  number: number;
  start: number;
  end: number;
  text: number[];
  isOpen: boolean;
}

export function isEbuStl(bytes: Uint8Array): boolean {
  return SIGNATURE.test(String.fromCharCode(...bytes.subarray(3, 11)));
}

/**
 * Parses EBU STL. Times count from the start of the programme, before which there is no speech,
 * unless most lie before it.
 */
export function parseEbuStl(bytes: Uint8Array): ParsedCues {
  const header = new TextDecoder("latin1").decode(bytes.subarray(0, GSI_BYTES));
  const fps = Number(header.slice(6, 8));
  const encoding = TABLES[header.slice(12, 14)];
  const all = readSubtitles(bytes, fps);
  const zero = toSeconds((header.slice(256, 264).match(/\d\d/g) ?? []).map(Number), fps);
  const inProgramme = all.filter(({ start }) => start >= zero);
  const isLate = inProgramme.length < all.length / 2;
  const shift = (time: number) => Math.round((isLate ? time : time - zero) * 1000) / 1000;
  const cues = (isLate ? all : inProgramme).map(({ start, end, text }): Cue => {
    return { start: shift(start), end: shift(end), text: decodeStlText(text, encoding) };
  });
  return { cues, badLines: [] };
}

/** Reads the subtitles, without comments and user data. */
function readSubtitles(bytes: Uint8Array, fps: number): StlSubtitle[] {
  const subtitles: StlSubtitle[] = [];
  for (let at = GSI_BYTES; at + TEXT_START < bytes.length; at += TTI_BYTES) {
    const block = bytes.subarray(at, at + TTI_BYTES);
    const [extension, isComment] = [block[3]!, block[15] === 1];
    if (isComment || extension === USER_DATA) continue;
    const number = block[1]! | (block[2]! << 8);
    let subtitle = subtitles.at(-1);
    if (!subtitle?.isOpen || subtitle.number !== number) {
      const [start, end] = [block.subarray(5, 9), block.subarray(9, 13)];
      const times = { start: toSeconds([...start], fps), end: toSeconds([...end], fps) };
      subtitle = { number, ...times, text: [], isOpen: true };
      subtitles.push(subtitle);
    }
    const content = block.subarray(TEXT_START);
    const end = content.indexOf(PADDING);
    append(subtitle.text, content.subarray(0, end < 0 ? undefined : end));
    subtitle.isOpen = extension !== LAST_EXTENSION;
  }
  return subtitles;
}

function toSeconds([hours = 0, minutes = 0, seconds = 0, frames = 0]: number[], fps: number) {
  return hours * 3600 + minutes * 60 + seconds + frames / fps;
}

/** Decodes a text. Control codes of teletext take the place of a blank, those of styles none. */
function decodeStlText(codes: number[], encoding: string | undefined): string {
  const characters = codes
    .map((code) => (code === LINE_BREAK ? 0x0a : code < 0x20 ? 0x20 : code))
    .filter((code) => code < 0x7f || code >= 0xa0);
  if (encoding) return new TextDecoder(encoding).decode(Uint8Array.from(characters));
  let [text, mark] = ["", ""];
  for (const code of characters) {
    const character = LATIN[code - 0xa0] ?? String.fromCharCode(code);
    if (code >= 0xc0 && code < 0xd0) mark = character;
    else [text, mark] = [text + character + mark, ""];
  }
  return normalizeText(text, "NFC");
}
