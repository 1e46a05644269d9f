/** Segments scripts without spaces by dictionary (UAX #29). */
const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });
/** Scripts whose words don't change, so that a word that goes on is another one. */
const UNINFLECTED = /^[\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
/** Thai signs that end a word: of what is left out, and of what is said twice. */
const END_SIGNS = "ฯๆ";
const LETTER = /[\p{L}\p{M}\p{N}]/u;
/** Letters around a match that are segmented with it, on each side. */
const CONTEXT = 24;

/**
 * Tests whether letters of a script without spaces, from `start` to `end`, are parts of two words
 * (京都 of 東京都), or a part of a word of a script in which that is another word.
 */
export function isAcrossWords(text: string, start: number, end: number): boolean {
  let [from, to] = [start, end];
  while (from > 0 && start - from < CONTEXT && LETTER.test(text[from - 1]!)) from -= 1;
  while (to < text.length && to - end < CONTEXT && LETTER.test(text[to]!)) to += 1;
  const segments = [...SEGMENTER.segment(text.slice(from, to))];
  const boundaries = new Set(segments.map(({ index }) => from + index).concat(to));
  const isEnd = boundaries.has(end) || END_SIGNS.includes(text[end]!);
  const isWhole = boundaries.has(start) && isEnd;
  if (isWhole) return false;
  if (UNINFLECTED.test(text.slice(start, end))) return true;
  const isWithin = ![...boundaries].some((at) => at > start && at < end);
  return !isWithin && !boundaries.has(start);
}
