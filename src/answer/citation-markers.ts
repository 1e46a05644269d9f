/** Maximum length of a marker: a longer text after an open bracket is no marker. */
export const MAX_MARKER_LENGTH = 2000;

const TIME = String.raw`\d{1,2}(?::\d\d){1,2}`;
const TIMES = String.raw`(?:(?:\s?[,;@|]\s?|\s(?:at\s)?)${TIME}(?:\s?[-–]\s?${TIME})?)?`;
const NUMBERS = String.raw`\d{1,3}(?:\s?(?:[-–,;&]|,?\s?and)\s?\d{1,3}){0,20}`;
const NAMED = String.raw`(?:[Ss]ources?|[Ee]vidence|[Rr]efs?|[Cc]itations?)[\s:#]{0,3}`;
const SQUARE = String.raw`\\?\[{1,2}\s?\^?(?:${NAMED})?${NUMBERS}${TIMES}\s?\\?\]{1,2}`;
const LINKED = String.raw`(?:\([!-'*-~]{0,300}\))?`;
const LENTICULAR = String.raw`【\s?(?:${NAMED})?${NUMBERS}(?:[:†][\w†:#, -]{0,80})?】`;
const SEVERAL = String.raw`${SQUARE}(?:[\s,;&]{0,2}${SQUARE}){0,5}`;
const ROUND = String.raw`\(\s?(?:(?:[Ss]ee\s)?${SEVERAL}|${NAMED}${NUMBERS}${TIMES})\s?\)`;
const RAISED = String.raw`<sup>\s?(?:${SEVERAL}|${NUMBERS})\s?<\/sup>`;

/**
 * Source of a regular expression, without capturing groups, for the ways in which models write
 * markers: `[1]`, `[1, 2]`, `[1-3]`, `[^1]`, `[[1]]`, `\[1\]`, `[source 1]`, `[1, 0:42]`,
 * `[1](address)`, `【1】`, `【1:0†source】`, `(source 1)`, `(see [1])`, `<sup>1</sup>`. Doesn't match a
 * year, `[2024]`. No marker contains the end of a sentence.
 */
export const MARKER = `(?:${SQUARE}${LINKED}|${LENTICULAR}|${ROUND}|${RAISED})`;

const RUN = new RegExp(String.raw`\s*${MARKER}(?:(?:\s|[,;&]|\band\b)*${MARKER})*`, "gu");
const NOT_NUMBERS = new RegExp(String.raw`\]\([^)]*\)|(?<=\d)[:†][^】\]]*】|${TIME}`, "gu");
const CLEAN = String.raw`\[\d{1,3}\]`;
const EMPHASISED = new RegExp(
  String.raw`([*_\x60]{1,3})\s*((?:${CLEAN})+)\s*\1|\*{4,}|_{4,}`,
  "gu",
);
const LEADING = new RegExp(String.raw`^((?:${CLEAN})+)[\s:–-]*(?=[^\s\p{Ll}])`, "u");
const CLOSING = new RegExp(String.raw`(?:${CLEAN}|[\p{STerm}…\s,;&"'”’»)\]*_~\x60】」』])+`, "gu");
const NOUN_NEXT = /(?<!\p{L})(?:and|at|by|evidence|from|in|of|or|per|see|sources?|to|with)$/iu;

/** A sentence whose markers are written as `[1][2]`. */
export interface NormalizedSentence {
  text: string;
  /** The text without markers. */
  bare: string;
  /** Marker numbers in the order of the text. */
  markers: number[];
}

/**
 * Writes the markers of a sentence as `[1][2]`, without duplicates and unknown ones. Moves markers
 * at the start and the end after the last punctuation mark. A marker inside the sentence stays
 * with its clause, and so does one that is used as a noun ("as shown in [1]."). Collapses white
 * space.
 */
export function normalizeMarkers(sentence: string, known: Iterable<number>): NormalizedSentence {
  const knownNumbers = [...known];
  const used = new Set<number>();
  const clean = sentence
    .replaceAll(/\s+/g, " ")
    .replaceAll(RUN, (run, at: number) => {
      const numbers = numbersIn(run, knownNumbers).filter((n) => !used.has(n));
      for (const n of numbers) used.add(n);
      const markers = formatMarkers(numbers);
      return numbers.length > 0 && at > 0 ? ` ${markers}` : markers;
    })
    .replaceAll(EMPHASISED, "$2")
    .replaceAll(/(?<=\[\d{1,3}\])(?=[\p{L}\p{N}])/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  const text = moveToEnd(clean);
  return {
    text,
    bare: text.replaceAll(new RegExp(String.raw`\s*${CLEAN}`, "g"), ""),
    markers: markersIn(text),
  };
}

/** Returns the markers of a normalised text. */
function markersIn(text: string): number[] {
  return [...text.matchAll(/\[(\d{1,3})\]/g)].map(([, digits]) => Number(digits));
}

function moveToEnd(sentence: string): string {
  const [lead = "", leading = ""] = LEADING.exec(sentence) ?? [];
  const rest = sentence.slice(lead.length);
  const ending = endingOf(rest);
  const body = rest.slice(0, rest.length - ending.length);
  const markers = leading + formatMarkers(markersIn(ending));
  if (markers === "") return sentence;
  const closing = ending.replaceAll(/\[\d{1,3}\]|[\s,;&]/g, "");
  if (/^\s*\[\d/.test(ending) && NOUN_NEXT.test(body)) return `${body} ${markers}${closing}`;
  return `${body}${closing} ${markers}`.trim();
}

function endingOf(sentence: string): string {
  const last = [...sentence.matchAll(CLOSING)].at(-1);
  return last && last.index + last[0].length === sentence.length ? last[0] : "";
}

function numbersIn(run: string, known: number[]): number[] {
  const ranges = [
    ...run.replaceAll(NOT_NUMBERS, "]").matchAll(/(\d{1,3})(?:\s?[-–]\s?(\d{1,3}))?/g),
  ];
  return ranges
    .flatMap(([, from, to]) => {
      if (to === undefined) return [Number(from)];
      return known.filter((n) => n >= Number(from) && n <= Number(to)).sort((a, b) => a - b);
    })
    .filter((n, i, all) => known.includes(n) && all.indexOf(n) === i);
}

function formatMarkers(markers: number[]): string {
  return markers.map((n) => `[${n}]`).join("");
}
