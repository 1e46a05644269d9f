import { convertFrames, type FrameRate, type Timecode, toDecimal } from "../media/timecode.ts";
import type { Cut, CutList, CutSource } from "./cut-list.ts";
import { formatXml, type XmlContent } from "./xml.ts";

/** Names of pixels that aren't square, by the lines of a picture: 480, 576 and so on. */
const PIXEL_ASPECTS = new Map([
  [480, "NTSC-601"],
  [576, "PAL-601"],
  [720, "HD-(960x720)"],
  [1080, "HD-(1440x1080)"],
]);
/** Width over height of a pixel that a picture is squeezed for. */
const MIN_ANAMORPHIC = 1.2;

/**
 * Formats a cut list as version 5 of Final Cut Pro's interchange format (xmeml), which Premiere and
 * Resolve read: one sequence with a track of video and one of audio, whose items are linked.
 */
export function formatPremiereXml(list: CutList): string {
  const { title: name, timecode, frames: duration, size, cuts } = list;
  const rate = toRate(timecode.rate);
  const described = new Set<CutSource>();
  const toTrack = (type: Track) => {
    const clipitem = cuts.flatMap((cut, i) => {
      if (!tracksOf(cut).includes(type)) return [];
      const isKnown = described.has(cut.source);
      described.add(cut.source);
      return [toItem(cut, i, type, isKnown)];
    });
    return clipitem.length > 0 ? { track: { clipitem } } : {};
  };
  const format = { samplecharacteristics: toPixels(size, 1, rate) };
  const media = { video: { format, ...toTrack("video") }, audio: toTrack("audio") };
  const facts = { id: "programme", name, duration, rate, timecode: toTimecode(timecode) };
  const content = { version: 5, sequence: { ...facts, media } };
  return formatXml("xmeml", content, (key) => key === "id" || key === "version");
}

/** Media type of a track. */
type Track = "video" | "audio";

function tracksOf({ source: { hasVideo, hasAudio } }: Cut): Track[] {
  return [...(hasVideo ? ["video" as const] : []), ...(hasAudio ? ["audio" as const] : [])];
}

function toItem(cut: Cut, i: number, type: Track, isKnown: boolean): XmlContent {
  const { source, sourceIn, sourceOut, recordIn, recordOut } = cut;
  const duration = source.frames ?? sourceOut;
  const rate = toRate(source.timecode.rate);
  const names = { id: `${type}-${i}`, name: source.name, duration, rate };
  const edges = { start: recordIn, end: recordOut, in: sourceIn, out: sourceOut };
  const linked = tracksOf(cut).map((one) => ({ linkclipref: `${one}-${i}`, mediatype: one }));
  return {
    ...names,
    ...edges,
    stillframe: source.frames === null ? "TRUE" : null,
    file: isKnown ? { id: source.id } : toFile(source, { duration, rate }),
    sourcetrack: { mediatype: type, trackindex: type === "audio" ? 1 : null },
    comments: { mastercomment1: cut.label, mastercomment2: cut.note },
    link: linked.length > 1 ? linked : null,
  };
}

function toFile(source: CutSource, facts: { duration: number; rate: XmlContent }): XmlContent {
  const { id, name, url, frames, timecode, size, pixelAspect, hasAudio } = source;
  const pathurl = /^https?:/.test(url) ? url : `file://localhost/${url}`;
  const video = size && { samplecharacteristics: toPixels(size, pixelAspect, facts.rate) };
  const media = { video, audio: hasAudio ? { channelcount: 2 } : null };
  const start = frames === null ? null : toTimecode(timecode);
  return { id, name, pathurl, ...facts, timecode: start, media };
}

function toPixels(size: CutList["size"], pixelAspect: number, rate: XmlContent) {
  const name = pixelAspect === 1 ? "square" : (PIXEL_ASPECTS.get(size.height) ?? null);
  return {
    rate,
    ...size,
    pixelaspectratio: name,
    anamorphic: toFlag(pixelAspect > MIN_ANAMORPHIC),
  };
}

function toRate(rate: FrameRate) {
  return { timebase: toDecimal(rate, 0), ntsc: toFlag(rate.denominator > 1) };
}

const toFlag = (value: boolean) => (value ? "TRUE" : "FALSE");

function toTimecode(timecode: Timecode): XmlContent {
  const { start, rate, counted, mode } = timecode;
  const frame = convertFrames(start, rate, counted);
  return { rate: toRate(counted), string: timecode.format(start), frame, displayformat: mode };
}
