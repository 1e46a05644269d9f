import { fold } from "./fold.ts";
import type { Language } from "./function-words.ts";
import { SPELLED_NUMBERS, type SpelledNumbers } from "./spelled-numbers.ts";

/** What a word is within a number. */
export interface NumberWord {
  kind: "small" | "tens" | "one" | "scale" | "ordinal" | "joined" | "digits" | "other";
  value: number;
}

/** Tests for a word of a number: not an article, which is one only within a number. */
export function isNumeric(word: NumberWord | undefined): boolean {
  return word !== undefined && word.kind !== "one";
}

type Tables = Record<"words" | "ordinals", Map<string, NumberWord>>;

const SCALES = [100, 1000, 1_000_000, 1_000_000_000];
const tables = new Map<SpelledNumbers, Tables>();

function tablesOf(spelled: SpelledNumbers): Tables {
  const known = tables.get(spelled);
  if (known) return known;
  const [words, ordinals] = [new Map<string, NumberWord>(), new Map<string, NumberWord>()];
  const add = (list: string, kind: NumberWord["kind"], valueOf: (i: number) => number) => {
    const into = kind === "ordinal" ? ordinals : words;
    for (const [i, alternatives] of list.split(/\s+/).entries()) {
      for (const word of alternatives.split("/")) into.set(fold(word), { kind, value: valueOf(i) });
    }
  };
  add(spelled.small, "small", (i) => i + 2);
  add(spelled.tens, "tens", (i) => 10 * (i + 2));
  add(spelled.ones, "one", () => 1);
  add(spelled.scales, "scale", (i) => SCALES[i]!);
  add(spelled.ordinals, "ordinal", (i) => i + 1);
  tables.set(spelled, { words, ordinals });
  return { words, ordinals };
}

function spelledBy(folded: string, language: Language): SpelledNumbers | undefined {
  if (/^[a-z]/.test(folded)) return SPELLED_NUMBERS[language];
  if (/^\p{Script=Cyrillic}/u.test(folded)) return SPELLED_NUMBERS.cyrillic;
  return /^\p{Script=Devanagari}/u.test(folded) ? SPELLED_NUMBERS.devanagari : undefined;
}

/** The longest number that is written as one word has fewer letters. */
const MAX_LETTERS = 40;

/** Returns what a folded word is within a number of a language; null for other words. */
export function readNumberWord(folded: string, language: Language): NumberWord | null {
  const spelled = folded.length > MAX_LETTERS ? undefined : spelledBy(folded, language);
  if (spelled === undefined || !/^\p{L}/u.test(folded)) return null;
  const { words, ordinals } = tablesOf(spelled);
  const found = words.get(folded) ?? ordinals.get(folded);
  if (found) return found;
  const joined = spelled.joined ? readJoined(folded, spelled) : null;
  if (joined !== null) return { kind: "joined", value: joined };
  return readOrdinal(folded, spelled);
}

/** Reads the cardinal of an ordinal. */
function readOrdinal(folded: string, spelled: SpelledNumbers): NumberWord | null {
  const { ordinalEnding } = spelled;
  if (ordinalEnding === undefined) return null;
  const { words, ordinals } = tablesOf(spelled);
  const own = ordinals.get(folded.replace(/e[nrsm]?$/, ""));
  if (own && !folded.endsWith("t")) return own;
  const cardinal = folded.replace(ordinalEnding, "");
  if (cardinal === folded) return null;
  // "syttende" is of "sytten".
  const beforeN = words.get(folded.replace(/de$/, ""))?.value;
  const value = beforeN ?? words.get(cardinal)?.value ?? readJoined(cardinal, spelled);
  return value !== null && value > 2 ? { kind: "ordinal", value } : null;
}

/** Reads a number of several words that are written as one: "dreihundertfünfzig". */
function readJoined(word: string, spelled: SpelledNumbers): number | null {
  const { words } = tablesOf(spelled);
  const own = words.get(word);
  if (own) return own.value;
  for (const scale of [1000, 100]) {
    const names = [...words].filter(([, { value }]) => value === scale).map(([name]) => name);
    for (const name of names) {
      const at = word.indexOf(name);
      if (at < 0) continue;
      const [before, after] = [word.slice(0, at), word.slice(at + name.length)];
      const times = before === "" ? 1 : readJoined(before, spelled);
      const rest =
        after === "" ? 0 : readJoined(after.replace(new RegExp(`^${spelled.and}`), ""), spelled);
      return times === null || rest === null || times >= scale || rest >= scale
        ? null
        : times * scale + rest;
    }
  }
  const unitsFirst = spelled.joined === "tens first" ? null : readUnitsFirst(word, spelled);
  return unitsFirst ?? (spelled.joined === "units first" ? null : readTensFirst(word, spelled));
}

function readUnitsFirst(word: string, spelled: SpelledNumbers): number | null {
  const { words } = tablesOf(spelled);
  for (const [ten, { kind, value }] of words) {
    if (kind !== "tens" || !word.endsWith(spelled.and + ten)) continue;
    const unit = words.get(word.slice(0, -ten.length - spelled.and.length));
    if (unit && unit.value < 10) return value + unit.value;
  }
  return null;
}

/** "ventuno" is "venti" and "uno", "veintidós" "veinte", "huszonkettő" "húsz". */
function readTensFirst(word: string, spelled: SpelledNumbers): number | null {
  const { words } = tablesOf(spelled);
  for (const [ten, { kind, value }] of words) {
    if (kind !== "tens") continue;
    const beginnings = [
      ten,
      ten.slice(0, -1),
      `${ten.slice(0, -1)}i`,
      ten === "husz" ? "huszon" : ten,
    ];
    for (const beginning of beginnings) {
      const unit = word.startsWith(beginning) ? words.get(word.slice(beginning.length)) : undefined;
      if (unit && unit.value < 10) return value + unit.value;
    }
  }
  return null;
}

const conjunctions = new Map<Language, string>();

/** Returns the word that a language has between the words of a number, folded. */
export function numberConjunction(language: Language): string {
  const and = conjunctions.get(language) ?? fold(SPELLED_NUMBERS[language]?.and ?? "-");
  conjunctions.set(language, and);
  return and;
}
