/** Returns the position of the segment in which a time lies, or of the nearest before; 0 without. */
export function positionAt(segments, seconds) {
  return Math.max(
    0,
    segments.findLastIndex(({ start }) => start <= seconds),
  );
}

/** Returns the position of the segment at a share of the time that segments cover, from 0 to 1. */
export function positionOfShare(segments, share) {
  const [first, last] = [segments[0].start, segments.at(-1).end];
  return positionAt(segments, first + share * (last - first));
}

/** Returns up to `count` segments before a position, that one, and up to `count` after it. */
export function neighboursOf(segments, position, count) {
  return segments.slice(Math.max(0, position - count), position + count + 1);
}
