import { stemmer } from "stemmer";
import { otherClockTerms } from "../normal-form/clock-words.ts";
import { derivedForms } from "../normal-form/derived-forms.ts";
import { readDigraphs, writeDigraphs } from "../normal-form/fold.ts";
import { type Language, LANGUAGES } from "../normal-form/function-words.ts";
import { possibleLanguages } from "../normal-form/guess-language.ts";
import { verbStems } from "../normal-form/japanese-verbs.ts";
import { isKnownStem } from "../normal-form/known-words.ts";
import { koreanVerbStems } from "../normal-form/korean-verbs.ts";
import { wordForm } from "../normal-form/languages.ts";
import { namesOfMonth, toMonthTerm } from "../normal-form/month-names.ts";
import { isNumeric } from "../normal-form/number-words.ts";
import { otherNumberTerms } from "../normal-form/numbers.ts";
import { readRuns } from "../normal-form/runs.ts";
import { normalForm, type NormalToken } from "../normal-form/tokens.ts";
import { separatedForms, verbForms } from "../normal-form/verb-forms.ts";
import { partsOfCompound } from "../normal-form/word-forms.ts";
import { MIN_PART } from "../store/index-database/fulltext.ts";

/** A form of one or more terms of a query, as tokens in order. */
export interface TermForm {
  terms: number[];
  /** Whether the query has it as it is, not joined or apart. */
  isWritten: boolean;
  /** Whether it is another form of a verb, which the text has if its word may be one. */
  isVerb?: true;
  /** Whether words are between its two tokens: a verb and its particle at the end of a clause. */
  isApart?: true;
  tokens: Pick<NormalToken, "folded" | "base" | "stem">[];
}

/** A joined compound is at least so long, and a word that may be one is longer. */
const MIN_JOINED = 4;
/** Words that are joined to one at most: more than two only in tags. */
const MAX_JOINED = 4;
const MIN_SPLIT = 8;
const MAX_SPLIT = 30;

const LATIN_WORD = /^[\p{Script=Latin}\p{M}]+$/u;

/** Languages that write umlauts, "å" and "ø" as two letters, too. */
const DIGRAPHS = ["de", "scandinavian"] as const;

/** Languages that join words to one; others join short ones: "portemonnaie". */
const COMPOUNDING = ["en", "de", "nl", "scandinavian", "fi", "hu"] as const;
const MAX_PREFIX = 5;
/** Letters that languages write between two words that they join to one. */
const LINKS: Partial<Record<Language, readonly string[]>> = {
  de: ["", "s", "n", "en", "es"],
  nl: ["", "s", "en"],
  scandinavian: ["", "s", "e"],
};
const NO_LINK = [""];

/**
 * The terms of a query: its words without duplicates by stem, each in the forms that a text may
 * have (Porter, "An algorithm for suffix stripping", 1980; Snowball's stemmers for others).
 */
export class TermForms {
  /** Tokens of each term in English. A word without spaces around it has a token per letter. */
  readonly terms: readonly NormalToken[][];
  readonly byLanguage: Record<Language, TermForm[]> = byLanguage(() => []);
  /** Words of the query as written, by how they are folded: those with accents or other marks. */
  readonly marked = new Map<string, string>();

  /** `text` is what the words were taken from: neighbours may be written as one word. */
  constructor(words: readonly string[], text: string) {
    const distinct = new Map<string, { word: string; tokens: NormalToken[] }>();
    for (const word of words) {
      const { tokens } = normalForm(word, "en");
      const key = stemsOf(tokens);
      if (tokens.length > 0 && !distinct.has(key)) distinct.set(key, { word, tokens });
    }
    this.terms = [...distinct.values()].map(({ tokens }) => tokens);
    for (const language of LANGUAGES) {
      for (const [term, { word }] of [...distinct.values()].entries()) {
        this.#addWord(term, word, language);
      }
    }
    this.#addSpellings(text);
  }

  /** All forms in all languages. */
  get all(): TermForm[] {
    return LANGUAGES.flatMap((language) => this.byLanguage[language]);
  }

  #addWord(term: number, word: string, language: Language): void {
    const { tokens, compounds } = normalForm(word, language);
    if (tokens.length === 0) return;
    const forms = this.byLanguage[language];
    forms.push({ terms: [term], isWritten: true, tokens });
    for (const compound of compounds) {
      if (compound.length === tokens.length) {
        forms.push({ terms: [term], isWritten: false, tokens: [compound] });
      }
    }
    if (language === "en") this.#addVerbStems(term, word);
    for (const other of otherDates(word, tokens, language)) {
      forms.push({ terms: [term], isWritten: false, tokens: other });
    }
    if (tokens.length > 1) return;
    const { base, stem } = tokens[0]!;
    const { folded } = wordForm(word, language);
    for (const other of [...otherClockTerms(base), ...otherNumberTerms(word, base)]) {
      this.byLanguage[language].push({ terms: [term], isWritten: false, tokens: [toToken(other)] });
    }
    if (language === "en") this.#addParts(term, folded);
    for (const { verb, particle } of separatedForms(folded, language)) {
      const apart = [wordForm(verb, language), wordForm(particle, language)];
      forms.push({ terms: [term], isWritten: false, isApart: true, tokens: apart });
    }
    const verbs = verbForms(folded, language).map((form) => wordForm(form, language));
    for (const [own, form] of new Map(verbs.map((verb) => [verb.stem, verb]))) {
      if (own === stem) continue;
      forms.push({ terms: [term], isWritten: false, isVerb: true, tokens: [form] });
    }
  }

  #addVerbStems(term: number, word: string): void {
    // "コンピューター" is "コンピュータ", too (JIS Z 8301).
    const short = /^[\p{Script=Katakana}ー]{3,}ー$/u.test(word) ? [word.slice(0, -1)] : [];
    for (const stem of [...verbStems(word), ...koreanVerbStems(word), ...short]) {
      this.byLanguage.en.push({
        terms: [term],
        isWritten: false,
        tokens: normalForm(stem, "en").tokens,
      });
    }
  }

  /** Adds forms for a long word that may be written as two: "railwaystation", "onboard". */
  #addParts(term: number, folded: string): void {
    if (folded.length > MAX_SPLIT || !/^[a-z]+$/.test(folded)) return;
    const known = partsOfCompound(folded);
    const splits: string[][] = known ? [known] : [];
    for (let at = MIN_PART; at <= folded.length - MIN_PART && folded.length >= MIN_SPLIT; at++) {
      splits.push([folded.slice(0, at), folded.slice(at)]);
    }
    for (const parts of splits) {
      const tokens = parts.map((part) => wordForm(part, "en"));
      this.byLanguage.en.push({ terms: [term], isWritten: false, tokens });
    }
    const written = readDigraphs(folded);
    if (written === folded) return;
    const isEnglish = isKnownStem(stemmer(folded)) || /aa/.test(folded);
    this.#addSpelling(term, written, isEnglish ? DIGRAPHS : ["en", ...DIGRAPHS]);
  }

  /**
   * Adds another spelling of a word: "mueller" for "Müller", and "muller" for "Mueller". Some
   * stemmers need the accents that a word has as written.
   */
  #addSpelling(term: number, spelling: string, languages: readonly Language[] = LANGUAGES): void {
    for (const language of languages) {
      const own = this.byLanguage[language];
      const form = wordForm(spelling, language);
      const isThere = own.some(({ terms, tokens: [first, ...others] }) => {
        return terms[0] === term && others.length === 0 && first?.stem === form.stem;
      });
      if (!isThere) own.push({ terms: [term], isWritten: false, tokens: [form] });
    }
  }

  /**
   * Adds forms that the text has in another spelling: for neighbours that may be written as one
   * word, such as "life jacket" and "2 million", and for words with umlauts.
   */
  #addSpellings(text: string): void {
    const { tokens: words } = normalForm(text, "en");
    const languages = new Set(possibleLanguages(readRuns(text).words));
    const termOf = new Map(this.terms.map((own, term) => [own.map(toFolded).join(" "), term]));
    const termsOf = (some: readonly NormalToken[]) =>
      some.flatMap(({ folded }) => termOf.get(folded) ?? []);
    for (const [i, word] of words.entries()) {
      const written = text.slice(word.start, word.end);
      const term = termOf.get(word.folded);
      if (!/^[\0-\x7F]*$/.test(written)) {
        this.marked.set(word.folded, written);
        if (term !== undefined && LATIN_WORD.test(written)) this.#addSpelling(term, written);
      }
      for (let length = 2; length <= MAX_JOINED && i + length <= words.length; length++) {
        const some = words.slice(i, i + length);
        const terms = termsOf(some);
        if (terms.length > 0) this.#addJoined(terms, some.map(toFolded), languages);
      }
      const spelling = writeDigraphs(written);
      if (spelling !== null && term !== undefined) this.#addSpelling(term, spelling);
    }
    for (const language of languages) this.#addWordedNumbers(text, words, termsOf, language);
  }

  /** Adds forms for neighbours that a text may have as one word: "lifejacket", "#blackfriday". */
  #addJoined(terms: number[], words: readonly string[], languages: ReadonlySet<Language>): void {
    const joined = words.join("");
    if (joined.length < MIN_JOINED || !/^[a-z]+$/.test(joined)) return;
    const [first = "", second = ""] = words;
    const others = first.length <= MAX_PREFIX ? LANGUAGES : COMPOUNDING;
    for (const language of words.length === 2 ? others : (["en"] as const)) {
      if (!languages.has(language)) continue;
      for (const link of words.length === 2 ? (LINKS[language] ?? NO_LINK) : NO_LINK) {
        const compound = link === "" ? joined : first + link + second;
        const forms = [compound, ...compoundForms(compound, language)];
        for (const form of forms) {
          const tokens = [wordForm(form, language)];
          this.byLanguage[language].push({ terms, isWritten: false, tokens });
        }
      }
    }
    if (words.length > 2 || words[1] !== "not") return;
    const contraction = words[0]!.replace(/n$/, "") + "nt";
    this.byLanguage.en.push({ terms, isWritten: false, tokens: [wordForm(contraction, "en")] });
  }

  /** Adds forms for words that are one number, time or share in a language: "halb neun". */
  #addWordedNumbers(
    text: string,
    words: readonly NormalToken[],
    termsOf: (some: readonly NormalToken[]) => number[],
    language: Language,
  ): void {
    const mayBe = words.some(({ folded }) => isNumeric(wordForm(folded, language).number));
    if (!mayBe) return;
    for (const number of normalForm(text, language).tokens) {
      if (!/^(?:\d|percent$)/.test(number.base)) continue;
      const within = words.filter(({ start, end }) => start >= number.start && end <= number.end);
      const terms = within.length > 1 ? termsOf(within) : [];
      if (terms.length > 0) this.#addNumber(terms, number, language);
    }
  }

  #addNumber(terms: number[], { base }: Pick<NormalToken, "base">, language: Language): void {
    for (const term of [base, ...otherClockTerms(base)]) {
      this.byLanguage[language].push({ terms, isWritten: false, tokens: [toToken(term)] });
    }
  }
}

/**
 * Returns other tokens of a date or an hour: a month as in a date of digits, and by its name; and
 * "20h" as a time of day.
 */
function otherDates(
  word: string,
  tokens: readonly NormalToken[],
  language: Language,
): TermForm["tokens"][] {
  const last = tokens.at(-1)!;
  const month = toMonthTerm(last.folded);
  const before: TermForm["tokens"] = tokens.slice(0, -1);
  const [, hour] = /^(\d{1,2})h$/.exec(word) ?? [];
  const names = tokens.length === 2 ? namesOfMonth(month ?? last.base, language) : [];
  return [
    ...(month === null ? [] : [[...before, toToken(month)]]),
    ...names.map((name) => before.concat(wordForm(name, language))),
    ...(hour === undefined ? [] : [[toToken(`${hour}h00`)]]),
  ];
}

/** Portuguese doubles an "s" or "r" behind a prefix, and Finnish has the weak grade. */
function compoundForms(compound: string, language: Language): string[] {
  if (language === "pt") return [compound.replace(/(?<=[aeiou])([rs])(?=[aeiou])/, "$1$1")];
  return language === "fi" ? derivedForms(compound, language) : [];
}

/** Makes a record of what each language has. */
export function byLanguage<Value>(make: (language: Language) => Value): Record<Language, Value> {
  const values = LANGUAGES.map((language) => [language, make(language)]);
  return Object.fromEntries(values) as Record<Language, Value>;
}

/** Returns the stems of tokens in order. */
export const stemsOf = (tokens: readonly Pick<NormalToken, "stem">[]) =>
  tokens.map(({ stem }) => stem).join(" ");

const toToken = (term: string) => ({ folded: term, base: term, stem: stemmer(term) });
const toFolded = ({ folded }: Pick<NormalToken, "folded">) => folded;
