import type { Quote } from "../../../src/answer/extractive.ts";
import { contentWords } from "../../../src/search/query.ts";
import { detectLanguage, isFunctionWord } from "../../../src/text/languages.ts";
import { QueryTerms } from "../../../src/text/query-terms.ts";

/** A sentence that answers a question together with what stands before it. */
export interface ContextQuote extends Quote {
  /** Share of the words of the question that the sentence has itself. */
  own: number;
}

const NUMBER = String.raw`(?:\b\d[\d.,]*|\b(?:zwei|drei|vier|fünf|sech|sieb|acht|neun|zehn|elf|zwölf|zwanzig|dreißig|hundert|tausend|halb)\p{L}*)`;
const MONTH =
  "(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)";
const DAY = "(?:Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag|Ostern|Weihnachten)";
const SEASON =
  "(?:Frühjahr|Frühling|Sommer|Herbst|Winter|Morgen|Mittag|Abend|Nacht|Jahr|Monat|Tag|Woche|Stunde|Minute)";
const MONEY = "(?:Euro|Mark|Pfennig|Schilling|Groschen|Kronen?|Gulden|Taler|Heller|Franken|Cent)";
/** A name of two words, or of one after a word for whose or by whom. */
const PERSON = String.raw`(?<!\p{L})(?:(?!(?:D[aei][mnrs]?e?|Ein|[AI]m|In|[VZ][ou][mnr]|Beim?|Mein|Unser|Sein|Ihr)\p{Ll}{0,2} )\p{Lu}\p{Ll}+ (?=\p{Lu})|(?:von|vom|durch|[ms]ein|ihr|unser)(?:e[mnrs]?|[mnrs])? (?=\p{Lu}))\p{Lu}\p{Ll}+`;
const PLACE = String.raw`(?<!\p{L})(?:in|im|an|am|auf|aus|bei|beim|nach|zu|zum|zur|hinter|neben|unter|über|vor) (?:de[mnr] |da[ss] |die )?(?!${MONTH}|${DAY}|${SEASON}|Jahr)\p{Lu}\p{Ll}+`;

/** What words of a question ask for, and what a sentence has that states it. */
const ASKED = (
  [
    [
      String.raw`(?:bis |seit |ab )?wann|(?:in )?welche[mns] (?:jahr|monat|tag)|(?:um )?wie ?viel uhr`,
      String.raw`\b(?:1\d|20)\d\d\b|${MONTH}|${DAY}|${SEASON}|\bum ${NUMBER}|\d Uhr|(?:morgen|abend|mittag|nacht)s`,
    ],
    ["wie lange", String.raw`(?:${NUMBER}|\beine?[mnr]?|ganze[nr]?) (?:\p{L}+ )?${SEASON}`],
    ["(?:wie ?viel|was)(?= .*kost)", String.raw`${NUMBER} ${MONEY}|umsonst|gratis`],
    [
      "wie ?viele?|wie (?:alt|breit|groß|hoch|lang|oft|schnell|schwer|tief|weit)",
      String.raw`(?!\b1\d\d\d\b)${NUMBER}`,
    ],
    ["warum|weshalb|wieso", String.raw`\b(?:weil|denn|da|damit|deshalb|um|wegen)\b`],
    ["wo(?:her|hin)?", PLACE],
    ["wer|(?:von |für |mit |bei )?we[mn]|wessen", PERSON],
    ["wie(?= (?:hei|hie)ß)", String.raw`(?:heiß|hieß)\p{L}* (?:\p{L}+ ){0,3}?\p{Lu}`],
  ] as const
).map(([asked, stated]) => ({
  asked: new RegExp(String.raw`(?<!\p{L})(?:${asked})(?!\p{L})`, "iu"),
  stated: new RegExp(stated, "u"),
}));

/** Tests whether a question is in German: one of few words may be guessed to be in English. */
export function isGerman(question: string): boolean {
  const language = detectLanguage(question);
  const startsGerman = ASKED.some(({ asked }) => asked.exec(question)?.index === 0);
  return language === "de" || (language === "en" && startsGerman);
}

/** Verbs that say nothing by themselves, and words for whoever does something. */
const AUXILIARY =
  /^(?:ist|sind|wa(?:r|ren)|wird|w[eu]rden?|worden|hab(?:e|en|t)|hat|hatten?|kann|konnten?|muss|mussten?|soll|sollten?|darf|durften?|man|gab|gibt|was|welche[mnrs]?|ins|ans|aufs)$/;
/**
 * Returns the sentences that have all words of a question in German in some form, themselves or in
 * what stands before, and state what is asked for.
 */
export function quoteGerman(
  question: string,
  quotes: readonly Quote[],
  contextOf: (sentence: string) => string,
): ContextQuote[] {
  const asks = ASKED.find(({ asked }) => asked.test(question));
  const rest = asks ? question.replace(asks.asked, " ") : question;
  const words = contentWords(rest).filter((word) => {
    return !isFunctionWord(word, "de") && !AUXILIARY.test(word);
  });
  const terms = new QueryTerms(words);
  const share = (text: string) =>
    new Set(terms.findMatches(text, "de").map(({ term }) => term)).size / terms.count;
  return quotes
    .filter(({ sentence }) => !asks || asks.stated.test(sentence))
    .filter(({ sentence }) => share(`${contextOf(sentence)} ${sentence}`) === 1)
    .map((quote) => Object.assign(quote, { own: share(quote.sentence) }));
}
