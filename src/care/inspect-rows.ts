import type { SegmentHealth } from "../store/health.ts";
import type { Asset } from "../types.ts";
import { type Finding, findingAbout } from "./findings.ts";

/** Whether the database has of an asset what it should. */
export function inspectRows(asset: Asset, segments: SegmentHealth[]): Finding[] {
  const findings: Finding[] = [];
  if (segments.length !== asset.segments) {
    const message = `The record says ${asset.segments} segments; there are ${segments.length}.`;
    findings.push({ code: "segments_miscounted", message, about: [] });
  }
  const idsOf = (some: SegmentHealth[]) => some.map(({ segmentId }) => segmentId);
  const unsigned = idsOf(segments.filter(({ seen, signed }) => seen && !signed));
  const silent = idsOf(
    segments.filter(
      ({ caption, speech, text, indexed }) => caption + speech + text > 0 && !indexed,
    ),
  );
  return [
    ...findings,
    ...findingAbout(
      "signatures_missing",
      unsigned,
      "One segment can't be found by the same picture.",
      (n) => `${n} segments can't be found by the same picture.`,
    ),
    ...findingAbout(
      "words_missing",
      silent,
      "One segment can't be found by its words.",
      (n) => `${n} segments can't be found by their words.`,
    ),
  ];
}
