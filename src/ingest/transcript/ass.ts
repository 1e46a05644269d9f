import type { Cue } from "../../types.ts";
import { cleanAssText } from "./cue-text.ts";
import { parseMediaTime } from "./media-time.ts";
import { numberLines } from "./numbered-line.ts";
import type { ParsedCues } from "./parsed-cues.ts";

const DEFAULT_FORMAT = "Layer,Start,End,Style,Name,MarginL,MarginR,MarginV,Effect,Text";
const SIGNATURE = /^\s*(?:\[Script Info\]|Dialogue:[^,\n]{0,40},\s?\d{1,2}:\d{1,2}:)/im;

/** Whether a text is a script of Advanced SubStation Alpha or of its predecessor. */
export function isAss(text: string): boolean {
  return SIGNATURE.test(text);
}

/**
 * Parses the dialogue of a script of (Advanced) SubStation Alpha. Comments, codes and drawings
 * aren't text. A line that is in several layers at the same time is there once.
 */
export function parseAss(text: string): ParsedCues {
  let columns = toColumns(DEFAULT_FORMAT);
  const cues = new Map<string, Cue>();
  const badLines: number[] = [];
  let isEvents = true;
  for (const { number, text: line } of numberLines(text)) {
    const [, key, value] = /^\s*(Format|Dialogue|\[[^\]]*\])\s*:?(.*)$/i.exec(line) ?? [];
    if (key === undefined) continue;
    if (key.startsWith("[")) isEvents = /events/i.test(key);
    else if (/format/i.test(key)) {
      if (isEvents && /\btext\b/i.test(value!)) columns = toColumns(value!);
    } else {
      const cue = parseDialogue(value!, columns);
      if (cue) cues.set(`${cue.start} ${cue.end} ${cue.text}`, cue);
      else badLines.push(number);
    }
  }
  return { cues: [...cues.values()], badLines };
}

function toColumns(format: string): string[] {
  return format.split(",").map((name) => name.trim().toLowerCase());
}

function parseDialogue(value: string, columns: string[]): Cue | null {
  const fields = value.split(",");
  const field = (name: string) => fields[columns.indexOf(name)];
  const start = parseMediaTime(field("start"));
  if (Number.isNaN(start) || fields.length < columns.length) return null;
  const text = fields.slice(columns.indexOf("text")).join(",");
  return { start, end: parseMediaTime(field("end")), text: cleanAssText(text) };
}
