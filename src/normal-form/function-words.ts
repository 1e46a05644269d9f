import { fold } from "./fold.ts";

/** Languages in Latin letters with a stemmer of their own. Others are stemmed as English. */
export const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl"] as const;
export type Language = (typeof LANGUAGES)[number];
/** "other" are languages that share words with these and have no stemmer. */
type GuessedLanguage = Language | "other";

/** Function words that tell languages apart. A text has them as written, not by their stem. */
const FUNCTION_WORDS: Record<GuessedLanguage, string> = {
  en: "the and of is in to a was on for with that it at by an are from this i you he she they we",
  de: `der die das und ist ein eine einen einer eines dem den des nicht mit auf für von vom im am zum
    zur sind wird wurde wir sie er es ich auch bei nach aus über unter oder aber jede jeder jedes um
    ihr ihre sein seine mein meine kein keine haben hatte wie als wenn noch nur durch ohne gegen`,
  fr: `le la les des une est et dans du au aux pour pas sur avec que qui ce cette sont il elle elles
    nous vous ont de un en devant sous chez on ils ne plus ses son sa leur leurs`,
  es: `el la los las un una unos unas de del y en con por para que es son no se su sus al lo le les
    pero muy está están este esta ese esa mi tu nos todos todas hay fue como sin sobre cuando`,
  it: `il lo la gli le un uno una di del della dei delle dello degli da dal dalla in nel nella nei e
    è con per che non si al alla ai alle sul sulla mio mia suo sua sono ha hanno ma anche questo
    questa ogni i`,
  pt: `o os as um uma de do da dos das e em no na nos nas com por para que não é se ao à seu sua meu
    minha são está estão mas muito eu ele ela eles elas foi pelo pela este esta`,
  nl: `de het een en van in op is dat die niet met voor te zijn er aan ook om maar naar bij uit hij
    zij ze we wij ik je wordt werd heeft onze deze dit nog over onder door`,
  other: `og met er på til av att och som i med en den det et ett fra af jeg ikke för är w z na nie
    się jest do bir ve`,
};
/** The languages of each function word, in lower case and capitalized. */
const LANGUAGES_OF_WORD = new Map<string, GuessedLanguage[]>();
const FOLDED = new Map<GuessedLanguage, Set<string>>();
for (const language of [...LANGUAGES, "other"] as const) {
  const own = FUNCTION_WORDS[language].split(/\s+/);
  FOLDED.set(language, new Set(own.map(fold)));
  for (const lower of own) {
    for (const word of [lower, lower[0]!.toUpperCase() + lower.slice(1)]) {
      LANGUAGES_OF_WORD.set(word, [...(LANGUAGES_OF_WORD.get(word) ?? []), language]);
    }
  }
}

const NO_LANGUAGES: readonly GuessedLanguage[] = [];

/** Returns the languages that have a word, as written, as a function word. */
function languagesOf(written: string): readonly GuessedLanguage[] {
  return LANGUAGES_OF_WORD.get(written) ?? NO_LANGUAGES;
}

/** Languages that a word as written tells, as a function word or by its letters. */
export interface LanguageSigns {
  languages: readonly GuessedLanguage[];
  cues: readonly GuessedLanguage[];
}

/** Returns the languages that a word as written tells. */
export function languageSigns(written: string): LanguageSigns {
  const languages = languagesOf(written);
  return { languages, cues: languages.length > 0 ? NO_LANGUAGES : cuesOf(written) };
}

/** Tests whether a folded word is a function word of a language. */
export function isFunctionWord(folded: string, language: Language): boolean {
  return FOLDED.get(language)!.has(folded);
}

/**
 * Letters and endings that words of a language often have. They tell languages apart that share
 * function words, and count half of one.
 */
const CUES: Record<Exclude<GuessedLanguage, "en" | "other">, RegExp> = {
  de: /ß|^[a-zäöü]*[äöü]/i,
  fr: /[éèêëîïôûœç]|(?:eux|euse|eaux?|tion|ez|ais|ait|aient|ons|oir)$/,
  es: /[ñáíóú]|(?:[aei]mos|ci[oó]n|[ai]d[oa]s?|ndo|os|as|ar|er|ir)$/,
  it: /[àèìòù]$|(?:zione|[aei]re|[ai]t[oa]|[ae]ndo|ggi|ini|etti|ano|ono|mente|ia)$/,
  pt: /[ãõâáíóúç]|(?:[aei]mos|[aei]ndo|inho|dade|agem|ei|ou|am|em|ar|er|ir)$/,
  nl: /ij|aa|uu|oe|sch|(?:lijk|tje|en|heid)$/,
};

function cuesOf(word: string): readonly GuessedLanguage[] {
  const languages = LANGUAGES.filter((one) => one !== "en");
  return languages.filter((one) => word.length > 3 && CUES[one].test(word));
}

/** Words that a text has of a language: names and titles have some of others, too. */
const MIN_WORDS = 2;
/** One is enough for these, if no other language has as many. */
const DISTINCT: ReadonlySet<Language> = new Set(["de", "fr"]);
const CUE = 0.5;

/** Guesses the language of words by the function words among them: English if it isn't clear. */
export function guessLanguage(words: readonly LanguageSigns[]): Language {
  const counts = { en: 0, de: 0, fr: 0, es: 0, it: 0, pt: 0, nl: 0, other: 0 };
  for (const { languages } of words) for (const language of languages) counts[language]++;
  const own = { ...counts };
  for (const { cues } of words) {
    for (const language of cues) if (own[language] > 0) counts[language] += CUE;
  }
  let best: Language = "en";
  let isShared = false;
  for (const language of LANGUAGES) {
    if (counts[language] === counts[best] && language !== best) isShared = true;
    if (counts[language] <= counts[best]) continue;
    best = language;
    isShared = false;
  }
  if (own[best] <= Math.max(own.en, own.other)) return "en";
  const isClear = DISTINCT.has(best) && !isShared;
  return isClear || counts[best] >= MIN_WORDS ? best : "en";
}
