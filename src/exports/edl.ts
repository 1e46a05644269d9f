import { toDecimal } from "../media/timecode.ts";
import type { Cut, CutList, CutSource } from "./cut-list.ts";

const MAX_TITLE = 70;
const DAY_SECONDS = 24 * 3600;
const RATE_TOLERANCE = 0.01;

/** Returns why timecode can't count a programme; null if it can. */
export function refuseTimecode({ timecode, frames }: CutList): string | null {
  const endSeconds = (timecode.start + frames) / toDecimal(timecode.rate, 0);
  if (endSeconds <= DAY_SECONDS) return null;
  return "Timecode counts 24 hours, and this list runs beyond them from 01:00:00:00; shorten it.";
}

/**
 * Formats a CMX3600 edit decision list: the cuts one after the other, from reel AX (a second source
 * of the same name from AX2), with the video and the audio that the source has. A comment names the
 * rate of each source that has another one than the programme, and of one that counts in another
 * than it plays in. An image is one frame that is held. Columns follow SMPTE 258M.
 */
export function formatEdl(list: CutList): string {
  const reels = nameReels(list.cuts);
  const events = list.cuts.flatMap((cut, i) => {
    const { timecode, fps, frames, name, hasVideo, hasAudio } = cut.source;
    const [channel, reel] = [hasAudio ? (hasVideo ? "B" : "A") : "V", reels.get(cut.source)!];
    const counted = toDecimal(timecode.rate, 3);
    const isCounted = fps !== null && Math.abs(fps - counted) >= RATE_TOLERANCE;
    const comment = isCounted ? `${Number(fps.toFixed(3))}, COUNTED IN ${counted}` : counted;
    const hasOtherRate = isCounted || counted !== toDecimal(list.timecode.rate, 3);
    const times = timesOf(list, cut);
    const lines = [formatEvent(i, reel, channel, times)];
    if (frames === null) lines.push(`M2   ${reel}       000.0                ${times[0]}`);
    lines.push(`* FROM CLIP NAME: ${name}`);
    if (hasOtherRate) lines.push(`* SOURCE FRAME RATE: ${comment}`);
    return lines;
  });
  return [...formatHeader(list), ...events, ""].join("\r\n");
}

function formatHeader({ title, timecode }: CutList): string[] {
  const mode = timecode.mode === "DF" ? "DROP FRAME" : "NON-DROP FRAME";
  return [`TITLE: ${title.slice(0, MAX_TITLE)}`, `FCM: ${mode}`, ""];
}

function formatEvent(i: number, reel: string, channel: string, times: string[]): string {
  return `${String(i + 1).padStart(3, "0")}  ${reel} ${channel}     C        ${times.join(" ")}`;
}

/** Formats the edges of a cut in its source and in the programme. */
function timesOf({ timecode }: CutList, { source, ...cut }: Cut): string[] {
  const inSource = [cut.sourceIn, cut.sourceOut].map((frame) => source.timecode.at(frame));
  return [...inSource, ...[cut.recordIn, cut.recordOut].map((frame) => timecode.at(frame))];
}

/** Names reels, in the width of their column. */
function nameReels(cuts: readonly Cut[]): Map<CutSource, string> {
  const byName = Map.groupBy(new Set(cuts.map(({ source }) => source)), ({ name }) => name);
  const reels = [...byName.values()].flatMap((sources) =>
    sources.map((source, i) => [source, (i > 0 ? `AX${i + 1}` : "AX").padEnd(8)] as const),
  );
  return new Map(reels);
}

/** Colours of Resolve's markers, and the score from which each is given. */
const COLORS = { Green: 0.8, Yellow: 0.5, Red: 0 };

/** Returns the colour of a marker: green for what is likely right, blue without a score. */
function colorOf({ score }: Cut): string {
  return Object.entries(COLORS).find(([, from]) => score !== null && score >= from)?.[0] ?? "Blue";
}

/**
 * Formats markers on the timeline of a cut list, one a cut, as Resolve imports them from an EDL.
 */
export function formatMarkerEdl(list: CutList): string {
  const markers = list.cuts.flatMap((cut, i) => {
    const { recordIn, recordOut } = cut;
    const times = [recordIn, recordIn + 1].map((frame) => list.timecode.at(frame));
    const [note, label] = [cut.note, cut.label].map((text) => text.replaceAll("|", "/"));
    const marker = `${note} |C:ResolveColor${colorOf(cut)} |M:${label} |D:${recordOut - recordIn}`;
    return [`${formatEvent(i, "001     ", "V", [...times, ...times])}  `, marker, ""];
  });
  return [...formatHeader(list), ...markers].join("\r\n");
}

const COLUMNS =
  "#,Reel,V,C,Dur,Source In,Source Out,Record In,Record Out,Name,Source FPS,Color,Notes,EDL Clip Name";

/** Formats the same markers as CSV, with the columns of Resolve's edit index that it fills. */
export function formatMarkerCsv(list: CutList): string {
  const reels = nameReels(list.cuts);
  const rows = list.cuts.map((cut, i) => {
    const length = list.timecode.format(cut.recordOut - cut.recordIn);
    const place = [String(i + 1), reels.get(cut.source)!.trim(), "V1", "C", length];
    const fps = String(toDecimal(cut.source.timecode.rate, 3));
    const texts = [cut.label, fps, colorOf(cut), cut.note, cut.source.name];
    return [...place, ...timesOf(list, cut), ...texts].map(formatCell).join(",");
  });
  return [COLUMNS, ...rows, ""].join("\r\n");
}

/** Formats a cell (RFC 4180). What a spreadsheet would run as a formula gets an apostrophe. */
function formatCell(text: string): string {
  // bounded: MAX_LABEL, a name or a note of a request
  const safe = text.replace(/(^|[;\t])(?=(?:\s|["'])*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20])/g, "$1'");
  return /[",;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
