import { formatTime, TRANSCRIPT_FILES } from "../ingest/transcript/format.ts";
import type { CutList } from "./cut-list.ts";

/** What YouTube asks of chapters: otherwise it shows none. */
const YOUTUBE = { minChapters: 3, minSeconds: 10 };

/** Returns why YouTube would show no chapters; null if it would. */
export function refuseChapters(list: CutList): string | null {
  const { minChapters, minSeconds } = YOUTUBE;
  const { length } = list.cuts;
  if (length < minChapters) return `YouTube shows ${minChapters} chapters or more, not ${length}.`;
  const lengths = toCues(list).map(({ start, end }) => Math.floor(end) - Math.floor(start));
  const short = lengths.findIndex((seconds) => seconds < minSeconds);
  if (short < 0) return null;
  return (
    `YouTube shows chapters of ${minSeconds} s or more, and number ${short + 1} has ` +
    `${lengths[short]} s; give \`handles_seconds\`, or the format \`chapters_vtt\`.`
  );
}

/** Formats the chapters of a film of the cuts, as a description on YouTube has them, from 0:00. */
export function formatChapters(list: CutList): string {
  const lines = toCues(list).map(({ start, text }) => {
    const clock = formatTime(Math.floor(start), ".").slice(0, -".000".length);
    return `${clock.replace(/^(?:00:0?|0)/, "")} ${text}\n`;
  });
  return lines.join("");
}

/** Formats the chapters of a film of the cuts as WebVTT, for `<track kind="chapters">`. */
export function formatVttChapters(list: CutList): string {
  return TRANSCRIPT_FILES.vtt.format(toCues(list));
}

function toCues({ cuts, timecode: { rate } }: CutList) {
  const seconds = (frame: number) => (frame * rate.denominator) / rate.numerator;
  return cuts.map(({ label, recordIn, recordOut }) => {
    return { start: seconds(recordIn), end: seconds(recordOut), text: label };
  });
}
