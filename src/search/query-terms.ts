import { stemmer } from "stemmer";
import { otherClockTerms } from "../normal-form/clock-words.ts";
import { readDigraphs, writeDigraphs } from "../normal-form/fold.ts";
import { type Language, LANGUAGES } from "../normal-form/function-words.ts";
import { verbStems } from "../normal-form/japanese-verbs.ts";
import { isKnownStem } from "../normal-form/known-words.ts";
import { koreanVerbStems } from "../normal-form/korean-verbs.ts";
import { wordForm } from "../normal-form/languages.ts";
import { isOtherWord } from "../normal-form/marks.ts";
import { otherNumberTerms } from "../normal-form/numbers.ts";
import { normalForm, normalFormWith, type NormalToken } from "../normal-form/tokens.ts";
import { mayBeVerb, verbForms } from "../normal-form/verb-forms.ts";
import { isAcrossWords } from "../normal-form/word-boundaries.ts";
import { areUnrelated, partsOfCompound } from "../normal-form/word-forms.ts";
import {
  type DocumentFrequencies,
  MIN_PART,
  type QueryToken,
} from "../store/index-database/fulltext.ts";
import { hasUnsegmentedScript, UNSEGMENTED_SCRIPT } from "../unsegmented-scripts.ts";

/** A term found in a text; offsets are in UTF-16 units. */
export interface TermMatch {
  /** Index of the term in the query, from 0. */
  term: number;
  /** Whether the text has the term as the query writes it, but for case and accents. */
  isExact: boolean;
  start: number;
  end: number;
}

/** A form of one or more terms of a query, as tokens in order. */
interface TermForm {
  terms: number[];
  /** Whether the query has it as it is, not joined or apart. */
  isWritten: boolean;
  /** Whether it is another form of a verb, which the text has if its word may be one. */
  isVerb?: true;
  tokens: Pick<NormalToken, "folded" | "base" | "stem">[];
}

/** A letter of a script without spaces between words: Korean has them. */
const NO_SPACES = new RegExp(`^(?!\\p{scx=Hangul})${UNSEGMENTED_SCRIPT}`, "u");

/** A joined compound is at least so long, and a word that may be one is longer. */
const MIN_JOINED = 4;
/** Words that are joined to one at most: more of them only in tags. */
const MAX_JOINED = 4;
const MIN_SPLIT = 8;
const MAX_SPLIT = 30;

/** Languages that join words to one. */
const COMPOUNDING = ["en", "de", "nl"] as const;

/** Returns whether tokens that are written as one have to be found as one: "LH-1234", "x-ray". */
export function isOneUnit(group: readonly Pick<NormalToken, "folded">[]): boolean {
  return group.some(({ folded }) => /^\d|^\p{L}$/u.test(folded));
}

/** Returns the forms of words in order, as terms of the full-text index. */
export function phraseForms(words: readonly string[]): string[] {
  const forms = LANGUAGES.map((language) => toTerm(normalForm(words.join(" "), language).tokens));
  return [...new Set(forms)];
}

const toToken = (term: string) => ({ folded: term, base: term, stem: stemmer(term) });
const toTerm = (tokens: readonly Pick<NormalToken, "base">[]) =>
  tokens.map(({ base }) => base).join(" ");
const stemsOf = (tokens: readonly Pick<NormalToken, "stem">[]) =>
  tokens.map(({ stem }) => stem).join(" ");

/**
 * The terms of a query: its words without duplicates by stem, each in the forms that a text may
 * have (Porter, "An algorithm for suffix stripping", 1980; Snowball's stemmers for German and
 * French). Finds the terms in texts.
 */
export class QueryTerms {
  /** The distinct tokens of all forms. */
  readonly tokens: readonly QueryToken[];
  /** All forms of all terms, as terms of the full-text index. */
  readonly forms: string[];
  /** Tokens of each term in English. A word without spaces around it has a token per letter. */
  readonly #terms: NormalToken[][];
  readonly #forms: Record<Language, TermForm[]> = byLanguage(() => []);
  /** Words of the query as written, by how they are folded: those with accents or other marks. */
  readonly #marked = new Map<string, string>();
  readonly #byStem: Record<Language, Map<string, TermForm[]>>;

  /** `text` is what the words were taken from: neighbours may be written as one word. */
  constructor(words: readonly string[], text = "") {
    const all = words.map((word) => normalForm(word, "en").tokens);
    const distinct = new Map<string, { word: string; tokens: NormalToken[] }>();
    for (const [i, tokens] of all.entries()) {
      if (tokens.length > 0 && !distinct.has(stemsOf(tokens))) {
        distinct.set(stemsOf(tokens), { word: words[i]!, tokens });
      }
    }
    this.#terms = [...distinct.values()].map(({ tokens }) => tokens);
    for (const language of LANGUAGES) {
      for (const [term, { word }] of [...distinct.values()].entries()) {
        this.#addWord(term, word, language);
      }
    }
    this.#addSpellings(text);
    const forms = LANGUAGES.flatMap((language) => this.#forms[language]);
    this.forms = [...new Set(forms.map(({ tokens }) => toTerm(tokens)))];
    const tokens = forms.flatMap((form) => form.tokens);
    this.tokens = [
      ...new Map(tokens.map(({ base, stem }) => [base, { word: base, stem }])).values(),
    ];
    this.#byStem = byLanguage((language) =>
      Map.groupBy(this.#forms[language], (form) => form.tokens[0]!.stem),
    );
  }

  get count(): number {
    return this.#terms.length;
  }

  /** The forms of each term, as terms of the full-text index. */
  get formsByTerm(): string[][] {
    const forms = LANGUAGES.flatMap((language) => this.#forms[language]);
    return this.#terms.map((_, term) => {
      const own = forms.filter(({ terms }) => terms.includes(term));
      return [...new Set(own.map(({ tokens }) => toTerm(tokens)))];
    });
  }

  #addWord(term: number, word: string, language: Language): void {
    const { tokens, compounds } = normalForm(word, language);
    if (tokens.length === 0) return;
    const forms = this.#forms[language];
    forms.push({ terms: [term], isWritten: true, tokens });
    for (const compound of compounds) {
      if (compound.length === tokens.length) {
        forms.push({ terms: [term], isWritten: false, tokens: [compound] });
      }
    }
    if (language === "en") this.#addVerbStems(term, word);
    if (tokens.length > 1) return;
    const { folded, base, stem } = tokens[0]!;
    for (const other of [...otherClockTerms(base), ...otherNumberTerms(word, base)]) {
      this.#forms[language].push({ terms: [term], isWritten: false, tokens: [toToken(other)] });
    }
    if (language === "en") this.#addParts(term, folded);
    const verbs = verbForms(folded, language).map((form) => wordForm(form, language));
    for (const [own, form] of new Map(verbs.map((verb) => [verb.stem, verb]))) {
      if (own === stem) continue;
      forms.push({ terms: [term], isWritten: false, isVerb: true, tokens: [form] });
    }
  }

  #addVerbStems(term: number, word: string): void {
    for (const stem of [...verbStems(word), ...koreanVerbStems(word)]) {
      this.#forms.en.push({
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
      this.#forms.en.push({ terms: [term], isWritten: false, tokens });
    }
    const written = readDigraphs(folded);
    if (written !== folded && !isKnownStem(stemmer(folded))) this.#addSpelling(term, written);
  }

  /** Adds another spelling of a word: "mueller" for "Müller", and "muller" for "Mueller". */
  #addSpelling(term: number, spelling: string): void {
    for (const language of LANGUAGES) {
      const tokens = [wordForm(spelling, language)];
      this.#forms[language].push({ terms: [term], isWritten: false, tokens });
    }
  }

  /**
   * Adds forms that the text has in another spelling: for neighbours that may be written as one
   * word, such as "life jacket" and "2 million", and for words with umlauts.
   */
  #addSpellings(text: string): void {
    const { tokens: words } = normalForm(text, "en");
    const termOf = new Map(this.#terms.map((own, term) => [own.map(toFolded).join(" "), term]));
    const termsOf = (some: readonly NormalToken[]) =>
      some.flatMap(({ folded }) => termOf.get(folded) ?? []);
    for (const [i, word] of words.entries()) {
      const written = text.slice(word.start, word.end);
      if (!/^[\0-\x7F]*$/.test(written)) this.#marked.set(word.folded, written);
      for (let length = 2; length <= MAX_JOINED && i + length <= words.length; length++) {
        const some = words.slice(i, i + length);
        const terms = termsOf(some);
        if (terms.length > 0) this.#addJoined(terms, some.map(toFolded));
      }
      const spelling = writeDigraphs(written);
      const term = termOf.get(word.folded);
      if (spelling !== null && term !== undefined) this.#addSpelling(term, spelling);
    }
    for (const language of LANGUAGES) this.#addWordedNumbers(text, words, termsOf, language);
  }

  /** Adds forms for neighbours that a text may have as one word: "lifejacket", "#blackfriday". */
  #addJoined(terms: number[], words: readonly string[]): void {
    const joined = words.join("");
    if (joined.length < MIN_JOINED || !/^[a-z]+$/.test(joined)) return;
    for (const language of words.length === 2 ? COMPOUNDING : (["en"] as const)) {
      const tokens = [wordForm(joined, language)];
      this.#forms[language].push({ terms, isWritten: false, tokens });
    }
    if (words.length > 2 || words[1] !== "not") return;
    const contraction = words[0]!.replace(/n$/, "") + "nt";
    this.#forms.en.push({ terms, isWritten: false, tokens: [wordForm(contraction, "en")] });
  }

  /** Adds forms for words that are one number, time or share in a language: "halb neun". */
  #addWordedNumbers(
    text: string,
    words: readonly NormalToken[],
    termsOf: (some: readonly NormalToken[]) => number[],
    language: Language,
  ): void {
    for (const number of normalForm(text, language).tokens) {
      if (!/^(?:\d|percent$)/.test(number.base)) continue;
      const within = words.filter(({ start, end }) => start >= number.start && end <= number.end);
      const terms = within.length > 1 ? termsOf(within) : [];
      if (terms.length > 0) this.#addNumber(terms, number, language);
    }
  }

  #addNumber(terms: number[], { base }: Pick<NormalToken, "base">, language: Language): void {
    for (const term of [base, ...otherClockTerms(base)]) {
      this.#forms[language].push({ terms, isWritten: false, tokens: [toToken(term)] });
    }
  }

  /**
   * Returns the inverse document frequency of each term (Robertson and Zaragoza, "The Probabilistic
   * Relevance Framework: BM25 and Beyond", 2009), times what its length tells. A form of several
   * tokens counts as its rarest.
   */
  weights({ total, byStem }: DocumentFrequencies): number[] {
    return this.#terms.map((tokens, term) => {
      const share = informationShare(tokens);
      if (share === 0) return 0;
      const forms = LANGUAGES.flatMap((language) => this.#forms[language]);
      const own = forms.filter(({ terms }) => terms.length === 1 && terms[0] === term);
      const counts = new Map(
        own.map((form) => [
          stemsOf(form.tokens),
          Math.min(...form.tokens.map(({ stem }) => byStem.get(stem) ?? 0)),
        ]),
      );
      const sum = [...counts.values()].reduce((all, count) => all + count, 0);
      const frequency = Math.min(total, sum);
      return share * Math.log(1 + (total - frequency + 0.5) / (frequency + 0.5));
    });
  }

  /** Lists the forms of all terms: a text may have a term if it has all stems of a form. */
  listForms(): { terms: readonly number[]; stems: string[] }[] {
    return LANGUAGES.flatMap((language) => this.#forms[language]).map(({ terms, tokens }) => {
      return { terms, stems: tokens.map(({ stem }) => stem) };
    });
  }

  /** Returns the terms of one word that no segment has in any form. */
  absentWords({ byStem }: DocumentFrequencies): NormalToken[] {
    const isPresent = ({ tokens }: TermForm) => tokens.every(({ stem }) => byStem.has(stem));
    const forms = LANGUAGES.flatMap((language) => this.#forms[language]);
    const present = new Set(forms.filter(isPresent).flatMap(({ terms }) => terms));
    return this.#terms.flatMap((tokens, term) => {
      return tokens.length === 1 && !present.has(term) ? tokens : [];
    });
  }

  /** Finds all terms in a text, in the order of the text. */
  findMatches(text: string): TermMatch[] {
    const form = normalFormWith(text, this.#byStem);
    if (form === null) return [];
    const { language, tokens, compounds } = form;
    const byStem = this.#byStem[language];
    const matches: TermMatch[] = [];
    const isOther = (
      { tokens: [own], isWritten }: TermForm,
      { folded, start, end }: NormalToken,
    ) => {
      const written = isWritten && own!.folded === folded ? this.#marked.get(folded) : undefined;
      return (
        written !== undefined && isOtherWord(written, text.slice(start, end), { text, language })
      );
    };
    const add = (form: TermForm, found: readonly NormalToken[]) => {
      const isSame = form.tokens.every(({ folded }, i) => found[i]!.folded === folded);
      const isExact = isSame && form.isWritten;
      const [first, last] = [found[0]!, found.at(-1)!];
      if (!isSame && found.length === 1 && areUnrelated(form.tokens[0]!, first)) return;
      if (isOther(form, first)) return;
      if (NO_SPACES.test(first.folded) && isAcrossWords(text, first.start, last.end)) return;
      if (form.isVerb && !mayBeVerb(text.slice(first.start, first.end), language)) return;
      for (const term of form.terms) {
        matches.push({ term, isExact, start: first.start, end: last.end });
      }
    };
    for (let at = 0; at < tokens.length; at++) {
      const form = byStem.get(tokens[at]!.stem)?.find((one) => matchesAt(one, tokens, at));
      if (form) add(form, tokens.slice(at, at + form.tokens.length));
    }
    if (compounds.length === 0) return matches;
    for (const compound of compounds) {
      const form = byStem.get(compound.stem)?.find(({ tokens: { length } }) => length === 1);
      if (form) add(form, [compound]);
    }
    return matches.toSorted((a, b) => a.start - b.start);
  }
}

/** Makes a record of what each language has. */
function byLanguage<Value>(make: (language: Language) => Value): Record<Language, Value> {
  const values = LANGUAGES.map((language) => [language, make(language)]);
  return Object.fromEntries(values) as Record<Language, Value>;
}

const toFolded = ({ folded }: Pick<NormalToken, "folded">) => folded;

/** A word of two characters is an abbreviation, a unit or a number: it says half as much. */
const SHORT_SHARE = 0.5;

/** Returns which share of its rarity a term is evidence for: a single letter is none. */
function informationShare([token, ...others]: readonly NormalToken[]): number {
  if (!token || others.length > 0 || hasUnsegmentedScript(token.folded)) return 1;
  const { length } = token.folded.replaceAll(/\p{M}/gu, "");
  if (length > 2) return 1;
  return /^\p{L}$/u.test(token.folded.charAt(0)) && length === 1 ? 0 : SHORT_SHARE;
}

function matchesAt({ tokens }: TermForm, text: readonly NormalToken[], at: number): boolean {
  return tokens.every(({ stem }, i) => text[at + i]?.stem === stem);
}
