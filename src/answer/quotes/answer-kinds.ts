/**
 * What an answer must state. `extent` is a duration or a length, `thing` is whatever the question
 * doesn't say, `any` is anything.
 */
export type AnswerKind =
  | "age"
  | "any"
  | "clock"
  | "colour"
  | "count"
  | "day"
  | "duration"
  | "extent"
  | "length"
  | "measure"
  | "money"
  | "person"
  | "place"
  | "reason"
  | "speed"
  | "thing"
  | "time"
  | "weight"
  | "year";

/** Kinds by the noun after "which" or "what". */
export const KINDS_BY_NOUN: Partial<Record<AnswerKind, string>> = {
  clock: "time hour",
  day: "day weekday evening",
  year: "year decade century",
  time: "date month season occasion interval intervals frequency",
  colour: "colour colours color colors hue shade tint",
  money: "price cost fee fare",
  duration: "duration",
  length: "height altitude width length depth distance diameter span elevation",
  weight: "weight mass",
  age: "age",
  speed: "speed",
  place: "birthplace origin",
  measure: "size temperature amount quantity consumption number",
};

/** Nouns of places that a sentence gives by name. */
export const NAMED_REGIONS = new Set(
  "city country place region spot state town village harbour port".split(" "),
);

/** Kinds by the word after "how". */
export const KINDS_BY_HOW: Record<string, AnswerKind> = {
  long: "extent",
  much: "measure",
  far: "length",
  deep: "length",
  high: "length",
  tall: "length",
  wide: "length",
  large: "measure",
  big: "measure",
  fast: "speed",
  heavy: "weight",
  old: "age",
  often: "time",
  frequent: "time",
  frequently: "time",
  early: "time",
  late: "time",
  soon: "time",
  expensive: "money",
};

const WORDS = `one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
  sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
  thousand million half quarter dozen both couple pair several few many`;
const WORD = WORDS.split(/\s+/).join("|");
const NUMBER = String.raw`(?:\d[\d.,]*|(?:${WORD})(?:[-\s](?:${WORD}|and|a))*)`;
/** A number, or a single thing, and a word between it and its unit: "two and a half long hours". */
const AMOUNT = String.raw`\b(?:${NUMBER}|an?)\s*(?:[a-z]+\s+)?`;
const TIME_UNIT =
  "seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies)|nights?";
const LENGTH_UNIT =
  "met(?:re|er)s?|feet|foot|miles?|(?:kilo|centi)met(?:re|er)s?|km|c?m|inch(?:es)?|yards?|blocks?";
const MONEY_UNIT =
  "pounds?|dollars?|euros?|cents?|pence|francs?|marks?|crowns?|kron(?:er|or)|yen|rupees?|bucks?";
const WEIGHT_UNIT = "tons?|tonnes?|kilos?|kilograms?|kg|grams?|pounds?|lbs?|ounces?|stones?";
const WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?";
const MONTH =
  "january|february|march|april|may|june|july|august|september|october|november|december";
const DAY = `${WEEKDAY}|today|tomorrow|yesterday|christmas|easter|thanksgiving|halloween`;
const YEAR = String.raw`\b(?:1\d|20)\d\d\b|\b(?:seventeen|eighteen|nineteen|twenty)[-\s]hundred\b`;
const CLOCK = [
  String.raw`\b\d{1,2}[:.]\d{2}\b`,
  String.raw`\b\d+\s?[ap]\.?m\b`,
  String.raw`\bo['’]?\s?clock\b`,
  String.raw`\b(?:noon|midnight|midday|dawn|dusk|sunrise|sunset)\b`,
  String.raw`\b(?:half|quarter)\s+(?:past|to)\b(?:\s+${NUMBER}\b)?`,
  String.raw`\b${NUMBER}\s+(?:in the (?:morning|afternoon|evening)|at night)\b`,
  String.raw`\b(?:at|by)\s+${NUMBER}\b(?:\s+(?:past|to)\s+${NUMBER}\b)?`,
].join("|");
const OTHER_TIME =
  `${DAY}|${MONTH}|spring|summer|autumn|fall|winter|morning|evening|afternoon|at night
  |daily|weekly|ago|every|once|twice|after|before|during|when|while|until|time`.replaceAll(
    /\s*\n\s*/g,
    "",
  );
const COLOUR =
  `black|white|gr[ae]y|red|green|blue|yellow|orange|brown|purple|pink|tan|gold(?:en)?|silver
  |beige|violet|maroon|turquoise|blonde?|navy|crimson|scarlet|colou?rful|striped|multicolou?red|plaid
  |ivory|cream|rust|brunette|indigo|teal`.replaceAll(/\s*\n\s*/g, "");

const pattern = (source: string) => new RegExp(source, "iu");
const words = (source: string) => pattern(String.raw`\b(?:${source})\b`);
const unit = (source: string) => pattern(String.raw`${AMOUNT}(?:${source})\b`);

/** What a sentence in lower case has if it states something of a kind. */
export const PATTERNS: Partial<Record<AnswerKind, RegExp>> = {
  age: pattern(String.raw`${AMOUNT}(?:${TIME_UNIT})\b|\b(?:old|aged?)\b`),
  clock: pattern(CLOCK),
  day: words(DAY),
  duration: unit(`(?:of an |and a half )?(?:${TIME_UNIT})`),
  extent: unit(`(?:of an |and a half )?(?:${TIME_UNIT}|${LENGTH_UNIT})`),
  length: unit(LENGTH_UNIT),
  measure: pattern(String.raw`(?<!\bin\s)\b${NUMBER}\b|\b(?:all|most|none)\b`),
  money: pattern(String.raw`[$£€¥]\s?\d|\b\d+[.,]\d\d\b|${AMOUNT}(?:${MONEY_UNIT})\b|\bfree\b`),
  reason: words("because|since|so that|in order|due to|therefore|as a result"),
  speed: unit("per|an?|mph|kmh|knots?"),
  time: pattern(String.raw`${CLOCK}|${YEAR}|\b(?:${OTHER_TIME})\b`),
  weight: unit(WEIGHT_UNIT),
  year: pattern(YEAR),
};

/** Times of day, days and years, which are no measures. */
export const TIMES = new RegExp(
  [PATTERNS.clock, PATTERNS.day, PATTERNS.year].map((one) => one!.source).join("|"),
  "giu",
);

/** Times, durations and amounts, which name no thing. */
export const AMOUNTS = new RegExp(
  [PATTERNS.duration, PATTERNS.money, PATTERNS.length, PATTERNS.clock, PATTERNS.day]
    .map((one) => one!.source)
    .join("|"),
  "giu",
);

const ONLY_NUMBER = new RegExp(`^${NUMBER}$`, "iu");
const ONLY_COLOUR = new RegExp(`^(?:${COLOUR})$`, "iu");
const ONLY_TIME = new RegExp(
  `^(?:${WEEKDAY}|${MONTH}|${TIME_UNIT}|mornings?|afternoons?|evenings?|noon|midnight|clock|time|past)$`,
  "iu",
);

export const isNumber = (word: string) => ONLY_NUMBER.test(word);
export const isColour = (word: string) => ONLY_COLOUR.test(word);
export const isTime = (word: string) => ONLY_TIME.test(word);
