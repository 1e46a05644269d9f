import type { Cue } from "../../types.ts";

/** Formats that a transcript is exported in: media type and formatter of cues in order. */
export const TRANSCRIPT_FILES = {
  vtt: { type: "text/vtt", format: formatVtt },
  srt: { type: "application/x-subrip", format: formatSrt },
  txt: { type: "text/plain", format: formatText },
} as const satisfies Record<string, { type: string; format: (cues: Cue[]) => string }>;

/** Formats WebVTT: https://www.w3.org/TR/webvtt1/, section 4. */
function formatVtt(cues: Cue[]): string {
  const blocks = cues.map((cue) => `${formatTimes(cue, ".")}\n${escapeVtt(nonEmptyLines(cue))}\n`);
  return ["WEBVTT\n", ...blocks].join("\n");
}

/** Formats SRT. SRT has no escapes: the separator of times becomes an arrow. */
function formatSrt(cues: Cue[]): string {
  return cues
    .map(
      (cue, i) =>
        `${i + 1}\n${formatTimes(cue, ",")}\n${nonEmptyLines(cue).replaceAll("-->", "→")}\n`,
    )
    .join("\n");
}

/** Formats plain text with a line for each cue. */
function formatText(cues: Cue[]): string {
  return cues.map(({ text }) => `${text.trim().replaceAll(/\s+/g, " ")}\n`).join("");
}

/** Formats the times of a cue. Rounding never puts an end before its start. */
function formatTimes({ start, end }: Cue, decimalMark: "." | ","): string {
  return [start, end].map((seconds) => formatTime(seconds, decimalMark)).join(" --> ");
}

/** Formats seconds as `hh:mm:ss.mmm`. */
export function formatTime(seconds: number, decimalMark: string): string {
  const ms = Math.round(seconds * 1000);
  const twoDigits = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const [hours, minutes, wholeSeconds] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60];
  const time = [hours, minutes, wholeSeconds].map(twoDigits).join(":");
  return `${time}${decimalMark}${String(ms % 1000).padStart(3, "0")}`;
}

/** Removes empty lines, which would end the cue. */
function nonEmptyLines({ text }: Cue): string {
  const lines = text.split(/[\r\n]/).map((line) => line.trim());
  return lines.filter(Boolean).join("\n");
}

function escapeVtt(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
