/** Says what is wrong with a part of a video, null if nothing is. */
export function timeRangeProblem(start, end, duration) {
  if (Number.isNaN(start) || Number.isNaN(end)) return "Give a start and an end in seconds.";
  if (start < 0) return "The start can't be before the video begins.";
  if (end <= start) return "The end must come after the start.";
  return start >= duration ? "The start is after the end of the video." : null;
}

/** Returns the segment that overlaps most with a time range, null without any. */
export function segmentAt(segments, { start, end }) {
  let [best, longest] = [null, 0];
  for (const segment of segments) {
    const from = Math.max(start, segment.start_seconds);
    const overlap = Math.min(end, segment.end_seconds) - from;
    if (overlap > longest) [best, longest] = [segment, overlap];
  }
  return best;
}
