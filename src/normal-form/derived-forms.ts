import type { Language } from "./function-words.ts";

/** Returns forms that a folded word has by a rule of its language, and its stemmer doesn't know. */
type DeriveForms = (folded: string) => string[];

const DERIVED: Partial<Record<Language, DeriveForms>> = {
  fr: (word) => {
    if (/(?:eu|eau|ou)$/.test(word)) return [`${word}x`];
    return /(?:eu|eau|ou)x$/.test(word) ? [word.slice(0, -1)] : [];
  },
  es: (word) => [...pronounForms(word), ...diminutives(word, "it", "cit")],
  pt: (word) => [...diminutives(word, "inh", "zinh"), ...nasalNumbers(word)],
  it: (word) => [...diminutives(word, "in", ""), ...diminutives(word, "ett", "")],
  scandinavian: (word) => {
    // Danish writes "katten", and "kat" without an ending.
    const isShort = /(?<![aeiouy])[aeiouy][bdfgklprst]$/.test(word);
    return isShort ? [`${word}${word.at(-1)!}en`] : [];
  },
  fi: weakGrades,
  id: prefixedForms,
  pl: (word) => soften(word, { k: "ce", g: "dze", ch: "sze" }),
  cs: (word) => soften(word, { k: "ce", h: "ze", ch: "se" }),
};

/** Returns such forms of a word in a language. */
export function derivedForms(folded: string, language: Language): string[] {
  return DERIVED[language]?.(folded) ?? [];
}

/** An imperative with a pronoun behind it: "comprar" gives "cómpralo". */
function pronounForms(word: string): string[] {
  const [, root = "", vowel = ""] = /^(..+)([aei])r(?:se)?$/.exec(word) ?? [];
  if (root === "") return [];
  const imperatives = PRONOUNS.map((pronoun) => `${root}${vowel === "a" ? "a" : "e"}${pronoun}`);
  return word.endsWith("r")
    ? [...imperatives, ...TWO_PRONOUNS.map((two) => word + two)]
    : imperatives;
}

const PRONOUNS = ["lo", "la", "le", "te", "me"];
/** Pronouns behind an infinitive that the stemmer leaves. */
const TWO_PRONOUNS = ["melo", "mela", "telo", "tela"];

const MIN_NOUN = 4;
/** What the last consonant of a root is written as before "i". */
const BEFORE_I: Record<string, string> = { c: "qu", g: "gu", z: "c" };

/** A diminutive of a noun: "gato" gives "gatito", "café" "cafecito". */
function diminutives(word: string, ending: string, other: string): string[] {
  if (word.length < MIN_NOUN) return [];
  const [, root = "", consonant = "", vowel = ""] = /^(.*?)([cgz]?)([aoe])$/.exec(word) ?? [];
  if (vowel === "e" || root === "") return other === "" ? [] : [`${word}${other}o`];
  const isItalian = other === "";
  const hard = isItalian && consonant !== "" ? `${consonant}h` : BEFORE_I[consonant];
  const before = ending.startsWith("i") || isItalian ? (hard ?? consonant) : consonant;
  return [`${root}${before}${ending}${vowel}`];
}

/** The other number of a noun that ends in a nasal vowel: "homem" and "homens". */
function nasalNumbers(word: string): string[] {
  if (/[eiou]m$/.test(word)) return [`${word.slice(0, -1)}ns`];
  return /[eiou]ns$/.test(word) ? [`${word.slice(0, -2)}m`] : [];
}

/** Strong grades of Finnish consonants, and the weak ones of closed syllables. */
const GRADES: readonly (readonly [strong: RegExp, weak: string])[] = [
  [/kk(?=[aeiouy]{1,2}$)/, "k"],
  [/pp(?=[aeiouy]{1,2}$)/, "p"],
  [/tt(?=[aeiouy]{1,2}$)/, "t"],
  [/mp(?=[aeiouy]{1,2}$)/, "mm"],
  [/nt(?=[aeiouy]{1,2}$)/, "nn"],
  [/nk(?=[aeiouy]{1,2}$)/, "ng"],
  [/lt(?=[aeiouy]{1,2}$)/, "ll"],
  [/rt(?=[aeiouy]{1,2}$)/, "rr"],
  [/(?<=[aeiouyhlr])t(?=[aeiouy]{1,2}$)/, "d"],
  [/(?<=[aeiouylr])p(?=[aeiouy]{1,2}$)/, "v"],
  [/(?<=[aeiouylr])k(?=[aeiouy]{1,2}$)/, ""],
];

/** The genitive of a noun in the other grade (consonant gradation): "ukko" gives "ukon". */
function weakGrades(word: string): string[] {
  const [strong, weak] = GRADES.find(([one]) => one.test(word)) ?? [];
  return strong === undefined ? [] : [`${word.replace(strong, weak!)}n`];
}

/** Consonants that Indonesian drops behind a prefix, and what the prefix ends in then. */
const NASALS: Record<string, string> = { k: "meng", t: "men", p: "mem", s: "meny", m: "me" };

/** Forms with a prefix that the stemmer doesn't know: "masak" gives "memasak". */
function prefixedForms(word: string): string[] {
  const prefix = NASALS[word[0]!];
  const root = /^mem(?=[aeiou])/.test(word) ? [word.slice(2)] : [];
  return prefix ? [...root, prefix + (prefix === "me" ? word : word.slice(1))] : root;
}

/** A locative of a noun, before whose ending Slavic languages soften consonants: "ręka", "ręce". */
function soften(word: string, softened: Record<string, string>): string[] {
  const [, root = "", hard = ""] = /^(..+?)(ch|[kgh])a$/.exec(word) ?? [];
  return softened[hard] === undefined ? [] : [root + softened[hard]];
}
