import { trimEndOf } from "../../trim-end.ts";
import type { SuggestedQuery } from "../query.ts";
import words from "./negations.json" with { type: "json" };

/** What isn't there follows a negation, or a word like "no" at the start or behind a comma. */
const NEGATED = [
  String.raw`^(?<before>)(?:${words.leading})`,
  String.raw`^(?<before>.*?)(?:^|[\s,;])(?:${words.negations})`,
  String.raw`^(?<before>.*\S)\s*[,;]\s*(?:${words.leading})`,
].map((source) => new RegExp(String.raw`${source}\s+(?<rest>\S.*)$`, "iu"));
/** Things that a "no" or a "without" is part of, in the beginning of what follows it. */
const FIXED_PHRASES = new RegExp(String.raw`^(?:(?:${words.fixed})(?!\p{L})|\d)`, "iu");
/** Quotation marks, or a minus before a word. */
const SYNTAX = /["“”«»]|\s-\p{L}/u;
/** A title has the word in capitals within ("Rebel Without a Cause"), a proverb has it twice. */
// bounded: MAX_CHARACTERS of a query
const TITLE = /\S\s(?:Without|No|Not|Ohne|Kein|Sans|Sin)\s+(?:\p{L}{1,3}\s+)?\p{Lu}/u;
const PROVERB = // bounded: MAX_CHARACTERS of a query
  /^(?:no|kein|keine|ohne|sans|sin|pas de|not?)\s\S+,?\s(?:no|kein|keine|ohne|sans|sin|pas de)\s/iu;
/** Where or when: belongs to what is looked for. */
const WHERE = new RegExp(String.raw`(?:^|\s)(?:${words.prepositions})\s`, "iu");
// bounded: MAX_CHARACTERS of a query
const SEPARATOR = new RegExp(
  String.raw`\s*[,;]\s*(?:(?:${words.conjunctions})\s+)?|\s+(?:${words.conjunctions})\s+`,
  "iu",
);
const LEADING_DETERMINERS = new RegExp(
  String.raw`^(?:(?:${words.determiners})\s+|d['’]|l['’])+`,
  "iu",
);

/** Longest name of a thing that isn't there: a longer text is a sentence. */
const MAX_WORDS = 4;
/** A longer query describes something, and has clauses. */
const MAX_CHARACTERS = 200;
/** Things that a search takes in `none`. */
const MAX_THINGS = 5;

/**
 * Splits a query whose words say that something isn't there ("a beach without people") into a query
 * and what isn't there: embeddings hardly understand "no" (Alhamoud et al., "Vision-Language Models
 * Do Not Understand Negation", 2025). Knows English, German, French and Spanish. Null for any other
 * query, and for one with quotation marks or a minus, which says what it means.
 */
export function suggestNone(text: string): SuggestedQuery | null {
  const query = trimEndOf(text.trim().replaceAll(/\s+/g, " "), /[.?!]/);
  if (query.length > MAX_CHARACTERS) return null;
  if (SYNTAX.test(` ${query}`) || TITLE.test(query) || PROVERB.test(query)) return null;
  const matches = NEGATED.map((pattern) => pattern.exec(query)?.groups);
  const { before = "", rest: negated = "" } = matches.find(Boolean) ?? {};
  const rest = negated.replace(LEADING_DETERMINERS, "");
  if (rest === "" || FIXED_PHRASES.test(rest)) return null;
  const where = WHERE.exec(rest)?.index ?? rest.length;
  const names = rest
    .slice(0, where)
    .split(SEPARATOR)
    .map((name) => name.replace(LEADING_DETERMINERS, "").trim());
  const isName = (name: string) => name !== "" && name.split(" ").length <= MAX_WORDS;
  if (!names.every(isName) || names.length > MAX_THINGS) return null;
  const remaining = `${before} ${rest.slice(where)}`.replaceAll(/\s+/g, " ").trim();
  return { query: trimEndOf(remaining, /[\s,;]/) || null, none: names };
}
