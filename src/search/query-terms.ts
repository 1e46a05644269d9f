import {
  isFunctionWord,
  isStopWord,
  type Language,
  LANGUAGES,
} from "../normal-form/function-words.ts";
import { isOtherWord, isShorterWithUmlaut } from "../normal-form/marks.ts";
import { normalForm, normalFormWith, type NormalToken } from "../normal-form/tokens.ts";
import { mayBeForm } from "../normal-form/verb-forms.ts";
import { isAcrossWords } from "../normal-form/word-boundaries.ts";
import { areUnrelated } from "../normal-form/word-forms.ts";
import {
  APART,
  type DocumentFrequencies,
  MAX_APART,
  type QueryToken,
} from "../store/index-database/fulltext.ts";
import { hasUnsegmentedScript, UNSEGMENTED_SCRIPT } from "../unsegmented-scripts.ts";
import { byLanguage, stemsOf, type TermForm, TermForms } from "./term-forms.ts";

/** A term found in a text; offsets are in UTF-16 units. */
export interface TermMatch {
  /** Index of the term in the query, from 0. */
  term: number;
  /** Whether the text has the term as the query writes it, but for case and accents. */
  isExact: boolean;
  /** Whether it is a number, in digits or in words. */
  isNumber?: true;
  start: number;
  end: number;
}

/** A letter of a script without spaces between words: Korean has them. */
const NO_SPACES = new RegExp(`^(?!\\p{scx=Hangul})${UNSEGMENTED_SCRIPT}`, "u");

/** Returns whether tokens that are written as one have to be found as one: "LH-1234", "x-ray". */
export function isOneUnit(group: readonly Pick<NormalToken, "folded">[]): boolean {
  return group.some(({ folded }) => /^\d|^\p{L}$/u.test(folded));
}

/** Returns the forms of words in order, as terms of the full-text index. */
export function phraseForms(words: readonly string[]): string[] {
  const forms = LANGUAGES.map((language) => toTerm(normalForm(words.join(" "), language).tokens));
  return [...new Set(forms)];
}

const toTerm = (tokens: readonly Pick<NormalToken, "base">[]) =>
  tokens.map(({ base }) => base).join(" ");

const toFtsTerm = ({ tokens, isApart }: TermForm) =>
  isApart ? tokens.map(({ base }) => base).join(APART) : toTerm(tokens);

/** The terms of a query in their forms. Finds them in texts. */
export class QueryTerms {
  /** The distinct tokens of all forms. */
  readonly tokens: readonly QueryToken[];
  /** All forms of all terms, as terms of the full-text index. */
  readonly forms: string[];
  readonly #terms: TermForms;
  readonly #forms: readonly TermForm[];
  readonly #byStem: Record<Language, Map<string, TermForm[]>>;
  /** Terms that are numbers in digits. */
  readonly #numbers: readonly number[];

  /** `text` is what the words were taken from: neighbours may be written as one word. */
  constructor(words: readonly string[], text = "") {
    this.#terms = new TermForms(words, text);
    this.#forms = this.#terms.all;
    this.forms = [...new Set(this.#forms.map(toFtsTerm))];
    const tokens = this.#forms.flatMap((form) => form.tokens);
    this.tokens = [
      ...new Map(tokens.map(({ base, stem }) => [base, { word: base, stem }])).values(),
    ];
    this.#numbers = this.#terms.terms.flatMap(([token, ...others], term) => {
      return others.length === 0 && /^\d+$/.test(token!.base) ? term : [];
    });
    this.#byStem = byLanguage((language) =>
      Map.groupBy(this.#terms.byLanguage[language], (form) => form.tokens[0]!.stem),
    );
  }

  get count(): number {
    return this.#terms.terms.length;
  }

  /** The forms of each term, as terms of the full-text index. */
  get formsByTerm(): string[][] {
    return this.#terms.terms.map((_, term) => {
      const own = this.#forms.filter(({ terms }) => terms.includes(term));
      return [...new Set(own.map(toFtsTerm))];
    });
  }

  /**
   * Returns the inverse document frequency of each term (Robertson and Zaragoza, "The Probabilistic
   * Relevance Framework: BM25 and Beyond", 2009), times what its length tells. A form of several
   * tokens counts as its rarest.
   */
  weights({ total, byStem }: DocumentFrequencies): number[] {
    return this.#terms.terms.map((tokens, term) => {
      const share = informationShare(tokens);
      if (share === 0) return 0;
      const own = this.#forms.filter(({ terms }) => terms.length === 1 && terms[0] === term);
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
    return this.#forms.map(({ terms, tokens }) => {
      return { terms, stems: tokens.map(({ stem }) => stem) };
    });
  }

  /** Returns the terms of one word that no segment has in any form. */
  absentWords({ byStem }: DocumentFrequencies): NormalToken[] {
    const isPresent = ({ tokens }: TermForm) => tokens.every(({ stem }) => byStem.has(stem));
    const present = new Set(this.#forms.filter(isPresent).flatMap(({ terms }) => terms));
    return this.#terms.terms.flatMap((tokens, term) => {
      return tokens.length === 1 && !present.has(term) ? tokens : [];
    });
  }

  /**
   * Tests whether a text with some of the terms lacks a number of the query and has another one:
   * "iPhone 11" for "iPhone 12". Numbers in words don't count.
   */
  hasOtherNumber(text: string, matches: readonly TermMatch[]): boolean {
    if (this.#numbers.length === 0 || !/\d/.test(text)) return false;
    const found = new Set(matches.map(({ term }) => term));
    return this.#numbers.some((term) => !found.has(term));
  }

  /** Finds all terms in a text, in the order of the text. */
  findMatches(text: string): TermMatch[] {
    const form = normalFormWith(text, this.#byStem);
    if (form === null) return [];
    const { language, tokens, compounds } = form;
    const byStem = this.#byStem[language];
    const matches: TermMatch[] = [];
    const isOther = ({ tokens: [own], isVerb }: TermForm, { folded, start, end }: NormalToken) => {
      if (!isVerb && own!.folded !== folded && !this.#terms.marked.has(own!.folded)) {
        return isShorterWithUmlaut(own!.folded, text.slice(start, end), language);
      }
      const written = own!.folded === folded ? this.#terms.marked.get(folded) : undefined;
      if (written === undefined) return false;
      return isOtherWord(written, text.slice(start, end), { text, language });
    };
    const add = (form: TermForm, found: readonly NormalToken[]) => {
      const isSame =
        !form.isApart && form.tokens.every(({ folded }, i) => found[i]!.folded === folded);
      const isExact = isSame && form.isWritten;
      const [first, last] = [found[0]!, found.at(-1)!];
      if (!isSame && found.length === 1) {
        if (areUnrelated(form.tokens[0]!, first)) return;
        // "is" is a form of "being", but nearly every text has it.
        if (isStopWord(first.folded) || isFunctionWord(first.folded, language)) return;
      }
      if (isOther(form, first)) return;
      if (NO_SPACES.test(first.folded) && isAcrossWords(text, first.start, last.end)) return;
      if (form.isVerb) {
        const written = text.slice(first.start, first.end);
        const { folded } = form.tokens[0]!;
        if (!mayBeForm({ written, form: folded, language, text })) return;
      }
      const isNumber = found.length === 1 && /^\d+$/.test(first.base);
      for (const term of form.terms) {
        const match = { term, isExact, start: first.start, end: last.end };
        matches.push(isNumber ? { ...match, isNumber } : match);
      }
    };
    for (let at = 0; at < tokens.length; at++) {
      const form = byStem.get(tokens[at]!.stem)?.find((one) => {
        return one.isApart ? isClosed(text, tokens, at, one) : matchesAt(one, tokens, at);
      });
      if (form) add(form, tokens.slice(at, at + (form.isApart ? 1 : form.tokens.length)));
    }
    if (compounds.length === 0) return matches;
    for (const compound of compounds) {
      const form = byStem.get(compound.stem)?.find(({ tokens: { length } }) => length === 1);
      if (form) add(form, [compound]);
    }
    return matches.toSorted((a, b) => a.start - b.start);
  }
}

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

/** Conjunctions of German and Dutch that begin the next clause. */
const CONJUNCTIONS = "und|oder|wenn|weil|als|bevor|nachdem|en|of|dat|omdat|want|voordat|nadat";
const MAX_CONJUNCTION = 10;
const CLAUSE_END = new RegExp(`^(?:\\s*(?:$|[.,;:!?)…–-])|\\s(?:${CONJUNCTIONS})\\s)`);

/** Tests whether the particle of a verb is at the end of its clause. */
function isClosed(
  text: string,
  tokens: readonly NormalToken[],
  at: number,
  { tokens: [, particle] }: TermForm,
): boolean {
  for (let i = at + 1; i < Math.min(tokens.length, at + MAX_APART); i++) {
    const { stem, end } = tokens[i]!;
    const rest = text.slice(end, end + MAX_CONJUNCTION);
    const isEnd = CLAUSE_END.test(rest);
    if (stem === particle!.stem && isEnd) return true;
    // A clause ends with a sign.
    if (/^\s*[.,;:!?]/.test(rest)) return false;
  }
  return false;
}
