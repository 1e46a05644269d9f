/**
 * What an answer must state. `extent` is a duration or a length, `thing` is whatever the question
 * doesn't say, `topic` is anything about something, `any` is anything.
 */
export type AnswerKind =
  | "age"
  | "any"
  | "clock"
  | "colour"
  | "count"
  | "day"
  | "difference"
  | "duration"
  | "extent"
  | "length"
  | "measure"
  | "money"
  | "name"
  | "owner"
  | "person"
  | "place"
  | "reason"
  | "speed"
  | "temperature"
  | "thing"
  | "time"
  | "topic"
  | "weight"
  | "year";

/** Kinds by the noun after "which" or "what". */
export const KINDS_BY_NOUN: Partial<Record<AnswerKind, string>> = {
  clock: "time hour",
  day: "day weekday evening",
  year: "year decade century",
  time: "date second minute week month season occasion interval intervals frequency",
  name: "name",
  colour: "colour colours color colors hue shade tint",
  money: "price cost fee fare",
  duration: "duration",
  length: "height altitude width length depth distance diameter span elevation",
  weight: "weight mass",
  age: "age",
  speed: "speed",
  place: "birthplace origin",
  temperature: "temperature",
  measure: "size amount quantity consumption number",
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
  thick: "length",
  hot: "temperature",
  warm: "temperature",
  cold: "temperature",
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
  thousand million half quarter dozen both couple pair several few many single`;
const WORD = WORDS.split(/\s+/).join("|");
const NUMBER = String.raw`(?:\d[\d.,]*|(?:${WORD})(?:[-\s](?:${WORD}|and|a))*)`;
/** A number, or a single thing, and a word between it and its unit: "two and a half long hours". */
const AMOUNT = String.raw`\b(?:${NUMBER}|an?)\s*(?:[a-z]+\s+)?`;
const TIME_UNIT =
  "seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies)|nights?";
const AGE_UNIT = "(?:days?|weeks?|months?|years?|decades?|centur(?:y|ies))(?:-olds?)?";
const LENGTH_UNIT =
  "met(?:re|er)s?|feet|foot|miles?|(?:kilo|centi)met(?:re|er)s?|km|c?m|inch(?:es)?|yards?|blocks?";
const MONEY_UNIT =
  "pounds?|dollars?|euros?|cents?|pence|francs?|marks?|crowns?|kron(?:er|or)|yen|rupees?|bucks?";
const PORTION =
  "bag|bit|bottle|bowl|box|can|cup|drop|glass|handful|lot|pinch|slice|spoon|spoonful|tablespoon|teaspoon";
const WHOLE_TIME = String.raw`\bovernight\b|\b(?:all|the whole) (?:day|evening|morning|night|summer|week|winter|year)\b`;
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
  String.raw`\b(?:at|by)\s+${NUMBER}\b(?!\s+[a-z]+s\b)(?:\s+(?:past|to)\s+${NUMBER}\b)?`,
].join("|");
const OTHER_TIME =
  `${DAY}|${MONTH}|spring|summer|autumn|fall|winter|morning|evening|afternoon|at night
  |daily|weekly|monthly|yearly|annually|always|never|often|seldom|sometimes|ago|twice|last|next
  |now|early|late|overnight|as soon as|in \\w+ times|once (?:an?|every|per)|(?:every|each) (?:\\w+ )?(?:${TIME_UNIT})`.replaceAll(
    /\n\s*/g,
    "",
  );
const COLOUR =
  `black|white|gr[ae]y|red|green|blue|yellow|orange|brown|purple|pink|tan|gold(?:en)?|silver
  |beige|violet|maroon|turquoise|blonde?|navy|crimson|scarlet|colou?rful|striped|multicolou?red|plaid
  |ivory|cream|rust|brunette|indigo|teal`.replaceAll(/\n\s*/g, "");

const pattern = (source: string) => new RegExp(source, "iu");
const words = (source: string) => pattern(String.raw`\b(?:${source})\b`);
const unitOrWhole = (source: string) => pattern(String.raw`${AMOUNT}(?:${source})\b|${WHOLE_TIME}`);
const unit = (source: string) => pattern(String.raw`${AMOUNT}(?:${source})\b`);

/** What a sentence in lower case has if it states something of a kind. */
export const PATTERNS: Partial<Record<AnswerKind, RegExp>> = {
  age: pattern(
    String.raw`${AMOUNT}(?:${AGE_UNIT})\b|\b(?:aged?|age of|turn(?:s|ed)?)\s+${NUMBER}\b|\b(?:am|are|is|was|were)\s+(?:\w+\s+)?${NUMBER}(?:$|\s+(?:when|and|at|in|but)\b)`,
  ),
  clock: pattern(CLOCK),
  day: words(DAY),
  difference: pattern(String.raw`\b${NUMBER}\b`),
  duration: unitOrWhole(`(?:of an |and a half )?(?:${TIME_UNIT})`),
  extent: unitOrWhole(`(?:of an |and a half )?(?:${TIME_UNIT}|${LENGTH_UNIT})`),
  length: unit(LENGTH_UNIT),
  measure: pattern(
    String.raw`(?<!\bin\s)\b${NUMBER}\b|\b(?:all|enough|most|none|plenty)\b|\b(?:an?|some|two|three) (?:${PORTION})s?\b`,
  ),
  money: pattern(String.raw`[$£€¥]\s?\d|\b\d+[.,]\d\d\b|${AMOUNT}(?:${MONEY_UNIT})\b|\bfree\b`),
  reason: words("as a result|because|due to|for fear|in order|since|so|therefore|thanks to"),
  speed: unit("per|an?|mph|kmh|knots?"),
  temperature: pattern(
    String.raw`${AMOUNT}(?:degrees?|celsius|fahrenheit)\b|\d\s?°|\b(?:below|above) zero\b`,
  ),
  time: pattern(String.raw`${CLOCK}|${YEAR}|\b(?:${OTHER_TIME})\b`),
  weight: unit(WEIGHT_UNIT),
  year: pattern(YEAR),
};

/** Times of day, days, years and durations, which are no measures. */
export const TIMES = new RegExp(
  [PATTERNS.duration, PATTERNS.clock, PATTERNS.day, PATTERNS.year]
    .map((one) => one!.source)
    .join("|"),
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
