import type { Cue } from "../types.ts";

/** A transcript as a file: its media type, and its text from cues in order. */
export const TRANSCRIPT_FILES = {
  vtt: { type: "text/vtt", write: writeVtt },
  srt: { type: "application/x-subrip", write: writeSrt },
  txt: { type: "text/plain", write: writeText },
} as const satisfies Record<string, { type: string; write: (cues: Cue[]) => string }>;

/** WebVTT: https://www.w3.org/TR/webvtt1/, section 4. */
function writeVtt(cues: Cue[]): string {
  const blocks = cues.map((cue) => `${timesOf(cue, ".")}\n${escapeVtt(linesOf(cue))}\n`);
  return ["WEBVTT\n", ...blocks].join("\n");
}

/** SRT has no escapes: what would be read as times becomes an arrow. */
function writeSrt(cues: Cue[]): string {
  return cues
    .map((cue, i) => `${i + 1}\n${timesOf(cue, ",")}\n${linesOf(cue).replaceAll("-->", "→")}\n`)
    .join("\n");
}

/** A line for each cue. */
function writeText(cues: Cue[]): string {
  return cues.map(({ text }) => `${text.trim().replaceAll(/\s+/g, " ")}\n`).join("");
}

/** Rounding keeps order: no cue ends before it starts. */
function timesOf({ start, end }: Cue, point: "." | ","): string {
  return [start, end].map((seconds) => timestamp(seconds, point)).join(" --> ");
}

function timestamp(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const [hours, minutes, rest] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60];
  return `${two(hours)}:${two(minutes)}:${two(rest)}${point}${String(ms % 1000).padStart(3, "0")}`;
}

/** An empty line would end the cue. */
function linesOf({ text }: Cue): string {
  return text.trim().replaceAll(/\s*[\r\n]\s*/g, "\n");
}

function escapeVtt(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
