const UNITS = "zero one two three four five six seven eight nine".split(" ");
const TEENS =
  "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(" ");
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SCALES: Readonly<Record<string, number>> = {
  hundred: 100,
  thousand: 1000,
  million: 1_000_000,
  billion: 1_000_000_000,
};
const VALUES = new Map<string, number>([
  ...[...UNITS, ...TEENS].map((word, value) => [word, value] as const),
  ...TENS.map((word, i) => [word, 20 + 10 * i] as const),
]);

/** Digits in other languages: three in a row are dictated, one alone may be another word. */
const SPOKEN_DIGITS = new Map<string, number>(
  `zéro cero null nul | un uno um eins een | deux dos due dois zwei twee | trois tres três tre drei
   drie | quatre cuatro quattro quatro vier | cinq cinco cinque fünf vijf | six seis sei sechs zes |
   sept siete sette sete sieben zeven | huit ocho otto oito acht | neuf nueve nove neun negen`
    .split("|")
    .flatMap((words, value) =>
      words
        .trim()
        .split(/\s+/)
        .map((word) => [word, value] as const),
    )
    .concat(UNITS.map((word, value) => [word, value] as const)),
);

const wordPattern = (words: Iterable<string>) =>
  String.raw`(?<![\p{L}\p{N}])(?:${[...words].join("|")})(?![\p{L}\p{N}])`;
const DICTATED = new RegExp(
  String.raw`(?:${wordPattern([...SPOKEN_DIGITS.keys(), "oh"])}[\s,.-]*){3,}`,
  "giu",
);
const NUMBER_WORD = wordPattern([...VALUES.keys(), ...Object.keys(SCALES)]);
const NUMBER_WORDS = new RegExp(
  String.raw`${NUMBER_WORD}(?:[\s-]+(?:and\s+)?${NUMBER_WORD})*`,
  "giu",
);

/** A number of a claim. */
export interface ClaimNumber {
  /** Canonical digits with a decimal point; two forms if a separator is ambiguous ("3.500"). */
  forms: string[];
  /** Whether it may be a count of things that are seen: 0–20, no amount and no part of a code. */
  isSmallCount: boolean;
}

/** Minimum of groups of digits that are one number, such as a phone number or a date. */
const MIN_GROUPS = 3;
const GROUPED = new RegExp(
  String.raw`(?<!\d)(?:\d+(?:[\s.\-–—/()+:_]{1,3}\d+){${MIN_GROUPS - 1},}|\d+(?:[\s.,;\-–—/()+:_]{1,3}\d+){4,})`,
  "gu",
);
const THOUSANDS = /^\d{1,3}(?:[.,'’]\d{3})+$/u;
const SINGLE =
  /(?<prefix>[\p{Sc}#+]\s?|[\p{scx=Latin}\p{scx=Cyrillic}\p{scx=Greek}_])?(?<digits>\d+(?:[.,'’]\d+)*)(?<suffix>\s?[%‰\p{Sc}]|[\p{scx=Latin}\p{scx=Cyrillic}\p{scx=Greek}]+)?/gu;
const ORDINAL = /^(?:st|nd|rd|th)$/i;
const STREET = String.raw`(?:street|st|road|rd|avenue|ave|lane|drive|boulevard|blvd|rue|calle|via|rua|ulica|улица)`;
const GERMAN_STREET = String.raw`\p{L}*(?:straße|strasse|str|weg|platz)`;
const STREET_NUMBER = new RegExp(
  String.raw`(?<!\d)\d{1,4}\s?\p{L}?,?\s(?:\p{L}+\s){0,2}${STREET}(?!\p{L})|(?<!\p{L})(?:${STREET}|${GERMAN_STREET})\.?\s(?:\p{L}+\s){0,3}\d{1,4}(?!\d)`,
  "giu",
);

/** Units of money and shares: a number before one is an amount, not a count. */
const AMOUNT =
  /(?<![\d.,])\d+(?:[.,]\d+)*\s?(?:bitcoins?|btc|cents?|dollars?|eth|eur|euros?|gbp|per\s?cent|pounds?|procent|prozent|rupees?|usd|yen|yuan|евро|рублей|元|円|원)(?!\p{Ll})/giu;
const MULTIPLES = new RegExp(
  String.raw`\b(double|triple)\s+(${wordPattern(SPOKEN_DIGITS.keys())})`,
  "giu",
);

/** Replaces English number words by digits, and digits dictated one by one in some languages. */
function writeNumbersAsDigits(text: string): string {
  return text
    .replaceAll(MULTIPLES, (_, times: string, word: string) => {
      return `${word} `.repeat(times.toLowerCase() === "double" ? 2 : 3).trim();
    })
    .replaceAll(DICTATED, (run) => {
      const words = run.toLowerCase().match(/\p{L}+/gu) ?? [];
      return `${words.map((word) => SPOKEN_DIGITS.get(word) ?? 0).join("")} `;
    })
    .replaceAll(NUMBER_WORDS, (run) =>
      valuesOf(run.toLowerCase().match(/\p{L}+/gu) ?? []).join(" "),
    );
}

/** Returns the values of number words in a row: "two hundred and five" → 205. */
function valuesOf(words: readonly string[]): (number | string)[] {
  if (words.length === 1 && words[0] === "one") return ["one"]; // mostly a pronoun
  const values: number[] = [];
  let [total, current] = [0, -1];
  const flush = () => {
    if (current >= 0 || total > 0) values.push(total + Math.max(0, current));
    [total, current] = [0, -1];
  };
  for (const word of words) {
    const value = VALUES.get(word);
    const scale = SCALES[word];
    if (value !== undefined) {
      const isNext =
        current < 0 ||
        (value < 10 ? current % 10 === 0 && current % 100 !== 10 : current % 100 === 0);
      if (!isNext || current === 0) flush();
      current = Math.max(0, current) + value;
    } else if (scale === 100) current = Math.max(1, current) * 100;
    else if (scale !== undefined) [total, current] = [total + Math.max(1, current) * scale, -1];
  }
  flush();
  return values;
}

/** Returns all forms of the numbers of a normalised source, alone and in groups. */
export function numberForms(text: string): Set<string> {
  const numbers = [...findNumbers(text), ...findSingleNumbers(writeNumbersAsDigits(text))];
  return new Set(numbers.flatMap(({ forms }) => forms));
}

/** Finds the numbers of a normalised text, also in words. */
export function findNumbers(text: string): ClaimNumber[] {
  const numbers: ClaimNumber[] = [];
  const addGroups = (found: string) => {
    numbers.push({ forms: [found.replaceAll(/\D/g, "")], isSmallCount: false });
    return " ";
  };
  const withoutStreets = text.replaceAll(STREET_NUMBER, (found) => {
    return addGroups(/\d+/.exec(found)?.[0] ?? "");
  });
  const rest = writeNumbersAsDigits(withoutStreets)
    .replaceAll(GROUPED, addGroups)
    .replaceAll(AMOUNT, (found) => {
      for (const { forms } of findSingleNumbers(found)) {
        numbers.push({ forms, isSmallCount: false });
      }
      return " ";
    });
  return [...numbers, ...findSingleNumbers(rest)];
}

function findSingleNumbers(text: string): ClaimNumber[] {
  return Array.from(text.matchAll(SINGLE), ({ groups }) => {
    const { prefix = "", digits = "", suffix = "" } = groups ?? {};
    const isPlain = prefix.trim() === "" && (suffix === "" || ORDINAL.test(suffix));
    const isSmallCount = isPlain && /^(?:1?\d|20)$/.test(digits);
    return { forms: canonicalForms(digits), isSmallCount };
  });
}

function canonicalForms(digits: string): string[] {
  const decimal = digits.replaceAll(/['’]/g, "").replaceAll(",", ".");
  if (!THOUSANDS.test(digits)) return [decimal];
  return [digits.replaceAll(/\D/g, ""), decimal];
}
