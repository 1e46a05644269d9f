import type { SuggestedQuery } from "../query.ts";

/** Words that begin what isn't there, by language. */
const NEGATIONS = [
  "without|w/o|with no|but no|but not|and no|and not|but without|and without|except|excluding",
  "ohne|aber kein|aber keine|aber keinen|aber nicht|und kein|und keine|und keinen|aber ohne|außer",
  "sans|mais pas|mais sans|et sans|et pas|sauf",
  "sin|pero no|pero sin|y sin|excepto|salvo",
];
/** Words that begin what isn't there at the start of a query, or behind a comma. */
const LEADING_NEGATIONS = ["no", "not", "kein|keine|keinen", "pas", "ningún|ninguna"];
/** Words between two things that aren't there. */
const CONJUNCTIONS = "and|or|nor|und|oder|noch|et|ou|ni|y|o|u|e";
/** Words before a thing that aren't part of its name. */
const DETERMINERS =
  "a|an|any|the|ein|eine|einen|der|die|das|den|dem|un|une|des|de|du|la|le|les|una|el|los|las|" +
  "ningún|ninguna|kein|keine|keinen|no|without|sans|sin|ohne";
/** Words that begin where or when: they belong to what is looked for. */
const PREPOSITIONS =
  "at|in|on|near|by|under|behind|beside|during|from|next to|in front of|auf|am|an|im|bei|unter|" +
  "hinter|neben|während|vor|à|au|aux|sur|dans|près|sous|devant|derrière|pendant|en|sobre|cerca|" +
  "bajo|delante|detrás|durante|junto";

/** Things that a "no" or a "without" is part of, in the beginning of what follows it. */
const FIXED_PHRASES = new RegExp(
  String.raw`^(?:(?:smoking|parking|entry|exit|trespassing|man'?s|one|way|doubt|end|time to|country|
    |name|further ado|fail|question|notice|warning|problem|brainer|limits?|borders|strings|matter|
    |comment|idea|cause|reservation|exception|delay|ende|grenzen|zweifel|worte|gewähr|weiteres|
    |umwege|frontières|doute|cesse|faute|souci|suite|précédent|duda|fin|embargo|límites|fronteras
    )(?!\p{L})|\d)`.replaceAll(/\s*\n\s*\|?\s*/g, ""),
  "iu",
);
/** A title has the word in capitals within ("Rebel Without a Cause"), a proverb has it twice. */
const TITLE = /\S\s(?:Without|No|Not|Ohne|Kein|Sans|Sin)\s+(?:\p{L}{1,3}\s+)?\p{Lu}/u;
const PROVERB =
  /^(?:no|kein|keine|ohne|sans|sin|pas de|not?)\s\S+,?\s(?:no|kein|keine|ohne|sans|sin|pas de)\s/iu;

/** Quotation marks, or a minus before a word. */
const SYNTAX = /["“”«»]|\s-\p{L}/u;
const LEAD = new RegExp(
  String.raw`^(?<before>)(?:${LEADING_NEGATIONS.join("|")})\s+(?<rest>\S.*)$`,
  "iu",
);
const BEHIND_COMMA = new RegExp(
  String.raw`^(?<before>.*\S)\s*[,;]\s*(?:${LEADING_NEGATIONS.join("|")})\s+(?<rest>\S.*)$`,
  "iu",
);
const INSIDE = new RegExp(
  String.raw`^(?<before>.*?)(?:^|[\s,;])(?:${NEGATIONS.join("|")})\s+(?<rest>\S.*)$`,
  "iu",
);
const WHERE = new RegExp(String.raw`(?:^|\s)(?:${PREPOSITIONS})\s`, "iu");
const SEPARATOR = new RegExp(
  String.raw`\s*[,;]\s*(?:(?:${CONJUNCTIONS})\s+)?|\s+(?:${CONJUNCTIONS})\s+`,
  "iu",
);
const LEADING_DETERMINERS = new RegExp(String.raw`^(?:(?:${DETERMINERS})\s+|d['’]|l['’])+`, "iu");

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
  const query = text
    .trim()
    .replaceAll(/\s+/g, " ")
    .replace(/[.?!]+$/, "");
  if (query.length > MAX_CHARACTERS) return null;
  if (SYNTAX.test(` ${query}`) || TITLE.test(query) || PROVERB.test(query)) return null;
  const match = LEAD.exec(query) ?? INSIDE.exec(query) ?? BEHIND_COMMA.exec(query);
  const { before = "" } = match?.groups ?? {};
  const rest = (match?.groups?.["rest"] ?? "").replace(LEADING_DETERMINERS, "");
  if (rest === "" || FIXED_PHRASES.test(rest)) return null;
  const where = WHERE.exec(rest)?.index ?? rest.length;
  const names = rest
    .slice(0, where)
    .split(SEPARATOR)
    .map((name) => name.replace(LEADING_DETERMINERS, "").trim());
  const isName = (name: string) => name !== "" && name.split(" ").length <= MAX_WORDS;
  if (!names.every(isName) || names.length > MAX_THINGS) return null;
  const remaining = `${before} ${rest.slice(where)}`.replaceAll(/\s+/g, " ").trim();
  return { query: remaining.replace(/[\s,;]+$/, "") || null, none: names };
}
