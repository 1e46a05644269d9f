import { type Language, LANGUAGES } from "../../src/normal-form/function-words.ts";
import {
  type NgramData,
  SCORE_STEP,
  toByteLetters,
} from "../../src/normal-form/language-ngrams.ts";

/** N-grams of bytes by Nito-ELD, a detector of 60 languages. */
interface EldData {
  /** Codes of languages by number. */
  languages: Record<string, string>;
  /** Scores of each n-gram by language, without `MIN_SCORE`. */
  ngrams: Record<string, Record<string, number>>;
}

/** What is left out of all scores of the package. */
const MIN_SCORE = 53;
/** Languages that are read as another, or as one. Malay has most words of Indonesian. */
const OTHER_CODES: Partial<Record<string, Language>> = {
  ms: "id",
  da: "scandinavian",
  no: "scandinavian",
  sv: "scandinavian",
};

/** Reads n-grams of the languages that have a stemmer here, with their scores in steps. */
export async function readNgrams(): Promise<NgramData> {
  const entry = import.meta.resolve("eld/extrasmall");
  const load = async <Data>(path: string): Promise<Data> =>
    import(new URL(path, entry).href) as Promise<Data>;
  const { ngramsData } = await load<{ ngramsData: EldData }>("../ngrams/extrasmall.js");
  const { dictionary } = await load<{ dictionary: string[] }>("../dictionary.js");
  const bytes = new Map(
    dictionary.flatMap((letter, byte) => (byte < 0x80 ? [] : [[letter, byte]])),
  );
  const toBytes = (ngram: string) =>
    Uint8Array.from(ngram, (letter) =>
      /[a-z ']/.test(letter) ? letter.charCodeAt(0) : bytes.get(letter)!,
    );
  const lists = new Map<Language, string[][]>(LANGUAGES.map((language) => [language, []]));
  for (const [ngram, scores] of Object.entries(ngramsData.ngrams)) {
    const highest = new Map<Language, number>();
    for (const [number, score] of Object.entries(scores)) {
      const code = ngramsData.languages[number]!;
      const language = OTHER_CODES[code] ?? (code as Language);
      highest.set(language, Math.max(score, highest.get(language) ?? -Infinity));
    }
    for (const [language, score] of highest) {
      const list = lists.get(language);
      const steps = Math.round((score + MIN_SCORE) / SCORE_STEP);
      if (list) (list[steps] ??= []).push(toByteLetters(toBytes(ngram)));
    }
  }
  return Object.fromEntries(
    [...lists].map(([language, steps]) => [language, Array.from(steps, frontCode)]),
  ) as NgramData;
}

/** Writes sorted words one after the other, each as what it shares with the last, and the rest. */
function frontCode(words: readonly string[] = []): string {
  let last = "";
  let coded = "";
  for (const word of words.toSorted()) {
    let shared = 0;
    while (shared < last.length && last[shared] === word[shared]) shared += 1;
    coded += shared + word.slice(shared);
    last = word;
  }
  return coded;
}
