/** Labels named in a caption; more would read as a list. */
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

/** Labels counted in pairs. */
const PAIRS = new Set(["skis", "scissors"]);
/** Labels that are mass nouns. */
const MASSES = new Set(["broccoli"]);

/** Returns the plural of a COCO label: "people" for "person", "wine glasses" for "wine glass". */
export function toPlural(label: string): string {
  const irregular = PLURALS[label];
  if (irregular) return irregular;
  return /(?:s|x|z|ch|sh)$/.test(label) ? `${label}es` : `${label}s`;
}

/**
 * Writes one English sentence that counts the detected labels in their order; empty without labels
 * and text. `hasText` says that OCR found text in the image.
 */
export function templateCaption(labels: readonly string[], hasText: boolean): string {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  const phrases = [...counts].slice(0, MAX_KINDS).map(([label, count]) => countLabel(label, count));
  if (!phrases.length) return hasText ? "A picture with words." : "";
  if (hasText) phrases.push("words");
  const last = phrases.pop() ?? "";
  const list = phrases.length ? `${phrases.join(", ")} and ${last}` : last;
  return `${list.charAt(0).toUpperCase()}${list.slice(1)}.`;
}

function countLabel(label: string, count: number): string {
  if (MASSES.has(label)) return label;
  if (PAIRS.has(label))
    return count === 1 ? `a pair of ${label}` : `${spellNumber(count)} pairs of ${label}`;
  if (count > 1) return `${spellNumber(count)} ${toPlural(label)}`;
  if (label === "tv") return "a TV";
  return `${/^[aeiou]/.test(label) ? "an" : "a"} ${label}`;
}

/** Spells numbers up to ten; a detector's larger counts aren't reliable. */
function spellNumber(count: number): string {
  return NUMBERS[count] ?? "many";
}
