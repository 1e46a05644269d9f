import { type FrameRate, toDecimal } from "../media/timecode.ts";
import type { Cut, CutList, CutSource } from "./cut-list.ts";
import { formatXml, type XmlContent } from "./xml.ts";

/** Frames a second of files that Final Cut conforms to another rate, and more of its timelines. */
const CONFORM_RATES = new Set([23.98, 24, 25, 29.97, 30, 47.95, 48, 50, 59.94, 60]);
const TIMELINE_RATES = new Set([...CONFORM_RATES, 90, 100, 119.88, 120]);

/** Returns why Final Cut has no such timeline; null if it has. */
export function refuseFcpxml({ timecode: { rate } }: CutList): string | null {
  if (TIMELINE_RATES.has(toDecimal(rate, 2))) return null;
  const known = [...TIMELINE_RATES].join(", ");
  return `Final Cut has no timeline of ${toDecimal(rate, 3)} frames a second; give \`fps\`: ${known}.`;
}

/**
 * Formats a cut list as FCPXML 1.10 of one project. Times are fractions of seconds: of the
 * programme at its frames, of a source at the source's. Nothing is played faster or slower.
 */
export function formatFcpxml(list: CutList): string {
  const { title: name, timecode, cuts } = list;
  const { rate, start, mode: tcFormat } = timecode;
  const sources = [...new Set(cuts.map(({ source }) => source))];
  const format = { id: "programme", frameDuration: time(1, rate), ...list.size };
  const times = { duration: time(list.frames, rate), tcStart: time(start, rate), tcFormat };
  const spine = { "": cuts.map((cut) => toClip(timecode, cut)) };
  const project = { name, sequence: { format: format.id, ...times, spine } };
  const resources = { format: [format, ...sources.map(toFormat)], asset: sources.map(toAsset) };
  const content = { version: "1.10", resources, library: { event: { name, project } } };
  return formatXml("fcpxml", content, (key) => key !== "note");
}

const formatId = ({ id, size }: CutSource) => (size ? `format-${id}` : null);

function toFormat(source: CutSource): XmlContent {
  const { frames, timecode, size, pixelAspect } = source;
  const [paspH, paspV] = pixelAspect === 1 ? [null, null] : [Math.round(pixelAspect * 1000), 1000];
  const isStill = frames === null;
  const name = isStill ? "FFVideoFormatRateUndefined" : null;
  const frameDuration = isStill ? null : time(1, timecode.rate);
  return size && { id: formatId(source), name, frameDuration, ...size, paspH, paspV };
}

function toAsset(source: CutSource): XmlContent {
  const { id, name, url, timecode, size, hasAudio, frames } = source;
  const [start, duration] = [timecode.start, frames ?? 0].map((one) => time(one, timecode.rate));
  const video = size && { hasVideo: 1, format: formatId(source) };
  const audio = hasAudio && { hasAudio: 1, audioSources: 1 };
  const file = { "media-rep": { kind: "original-media", src: url } };
  return { id, name, start: start!, duration: duration!, ...video, ...audio, ...file };
}

function toClip({ rate, start }: CutList["timecode"], cut: Cut): XmlContent {
  const { source, label, note, recordIn, recordOut } = cut;
  const { rate: sourceRate, start: sourceStart, mode: tcFormat } = source.timecode;
  const place = {
    ref: source.id,
    name: source.name,
    offset: time(start + recordIn, rate),
    start: time(sourceStart + cut.sourceIn, sourceRate),
    duration: time(recordOut - recordIn, rate),
    note: [label, note].filter(Boolean).join(" · "),
  };
  if (source.frames === null) return { video: place };
  const srcFrameRate = toDecimal(sourceRate, 2);
  const isConformed = srcFrameRate !== toDecimal(rate, 2) && CONFORM_RATES.has(srcFrameRate);
  const conform = isConformed ? { scaleEnabled: 0, srcFrameRate } : null;
  const audioRole = source.hasAudio ? "dialogue" : null;
  const clip = { ...place, format: formatId(source), tcFormat, audioRole };
  return { "asset-clip": { ...clip, "conform-rate": conform } };
}

/** Formats a number of frames as seconds, as FCPXML has them: `1001/30000s`. */
function time(frames: number, { numerator, denominator }: FrameRate): string {
  const ticks = frames * denominator;
  return ticks % numerator === 0 ? `${ticks / numerator}s` : `${ticks}/${numerator}s`;
}
