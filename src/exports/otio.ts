import type { FrameRate } from "../media/timecode.ts";
import type { Cut, CutList } from "./cut-list.ts";

/**
 * Formats a cut list as an OpenTimelineIO document: a track of video and one of audio, on which
 * gaps stand for cuts without either. A range of a source counts its frames, from its own timecode
 * on.
 */
export function formatOtio({ title, cuts, timecode }: CutList): string {
  const tracks = (["Video", "Audio"] as const).flatMap((kind) => {
    const has = ({ source }: Cut) => (kind === "Video" ? source.hasVideo : source.hasAudio);
    const children = cuts.map((cut) => (has(cut) ? toClip(cut) : toGap(cut)));
    return cuts.some(has) ? [{ ...toItem("Track.1", kind), kind, children }] : [];
  });
  const start = { metadata: {}, global_start_time: toTime(timecode.start, timecode.rate) };
  const stack = { ...toItem("Stack.1", "tracks"), children: tracks };
  const timeline = { OTIO_SCHEMA: "Timeline.1", name: title, ...start, tracks: stack };
  return `${JSON.stringify(timeline, null, 2)}\n`;
}

function toClip({ source, sourceIn, sourceOut, label, note, score }: Cut) {
  const { id, name, url, frames } = source;
  const { rate, start } = source.timecode;
  const range = toRange(start, frames ?? sourceOut, rate);
  const media = { name, metadata: {}, available_range: range, available_image_bounds: null };
  const file = { OTIO_SCHEMA: "ExternalReference.1", target_url: url, ...media };
  return {
    ...toItem("Clip.2", name),
    source_range: toRange(start + sourceIn, sourceOut - sourceIn, rate),
    media_references: { DEFAULT_MEDIA: file },
    active_media_reference_key: "DEFAULT_MEDIA",
    metadata: { sightline: { asset_id: id, label, note, score } },
  };
}

function toGap({ source, sourceIn, sourceOut }: Cut) {
  const range = toRange(0, sourceOut - sourceIn, source.timecode.rate);
  return { ...toItem("Gap.1", ""), source_range: range };
}

/** Makes the fields that every item of a timeline has. */
function toItem(schema: string, name: string) {
  const lists = { effects: [], markers: [] };
  return { OTIO_SCHEMA: schema, name, metadata: {}, source_range: null, ...lists, enabled: true };
}

function toRange(start: number, frames: number, rate: FrameRate) {
  const [start_time, duration] = [toTime(start, rate), toTime(frames, rate)];
  return { OTIO_SCHEMA: "TimeRange.1", start_time, duration };
}

function toTime(value: number, { numerator, denominator }: FrameRate) {
  return { OTIO_SCHEMA: "RationalTime.1", rate: numerator / denominator, value };
}
