/** At most this many kinds of thing are named; more make a list, not a caption. */
const MAX_KINDS = 5;

const NUMBERS = [
  "no",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
];

const PLURALS: Readonly<Record<string, string>> = {
  person: "people",
  sheep: "sheep",
  knife: "knives",
  mouse: "mice",
  skis: "skis",
  scissors: "scissors",
  broccoli: "broccoli",
  tv: "TVs",
};

/** Counted by the pair. */
const PAIRS = new Set(["skis", "scissors"]);
/** Not counted at all. */
const MASSES = new Set(["broccoli"]);

/** "people" for "person", "wine glasses" for "wine glass". Knows the classes of COCO. */
export function toPlural(label: string): string {
  const known = PLURALS[label];
  if (known) return known;
  return /(?:s|x|z|ch|sh)$/.test(label) ? `${label}es` : `${label}s`;
}

/**
 * One plain English sentence that says what was detected, and nothing else: labels in their order,
 * counted; empty where nothing was. `hasWords` tells whether words were read in the picture.
 */
export function composeCaption(labels: readonly string[], hasWords: boolean): string {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  const things = [...counts].slice(0, MAX_KINDS).map(([label, count]) => countThing(label, count));
  if (!things.length) return hasWords ? "A picture with words." : "";
  if (hasWords) things.push("words");
  const last = things.pop() ?? "";
  const list = things.length ? `${things.join(", ")} and ${last}` : last;
  return `${list.charAt(0).toUpperCase()}${list.slice(1)}.`;
}

function countThing(label: string, count: number): string {
  if (MASSES.has(label)) return label;
  if (PAIRS.has(label))
    return count === 1 ? `a pair of ${label}` : `${spell(count)} pairs of ${label}`;
  if (count > 1) return `${spell(count)} ${toPlural(label)}`;
  if (label === "tv") return "a TV";
  return `${/^[aeiou]/.test(label) ? "an" : "a"} ${label}`;
}

/** Ten and fewer in letters; beyond that a detector's count is not to be trusted. */
function spell(count: number): string {
  return NUMBERS[count] ?? "many";
}
