import { stemmer } from "stemmer";
import { type Language, LANGUAGES, languagesWith } from "./function-words.ts";
import { isKnownStem } from "./known-words.ts";
import { isVietnamese } from "./marks.ts";

type OtherLanguage = Exclude<Language, "en">;

/**
 * Letters and endings that words of a language often have. They tell languages apart that share
 * function words, and count half of one.
 */
const CUES: Record<OtherLanguage, RegExp> = {
  de: /ß|^[a-zäöü]*[äöü]|sch|(?:ung|heit|keit|lich)$/i,
  fr: /[éèêëîïôûœç]|(?:eux|euse|eaux?|tion|ez|ais|ait|aient|ons|oir)$/,
  es: /[ñáíóú]|(?:[aei]mos|ci[oó]n|[ai]d[oa]s?|ndo|os|as|ar|er|ir)$/,
  it: /[àèìòù]$|(?:zione|[aei]re|[ai]t[oa]|[ae]ndo|ggi|ini|etti|ano|ono|mente|ia)$|([bcdfglmnprstvz])\1[a-z]*[aio]$/,
  pt: /[ãõâáíóúç]|(?:[aei]mos|[aei]ndo|inho|dade|agem|ei|ou|am|em|ar|er|ir)$/,
  nl: /ij|aa|uu|oe|sch|(?:lijk|tje|en|heid)$/,
  sv: /[åäö]|(?:arna|orna|erna|ade|ligt?|ning|het|or)$/,
  da: /[æøå]|(?:erne|ede|lig|ning|hed|else)$/,
  no: /[æøå]|(?:ene|ene|lig|ning|het|else)$/,
  fi: /[äö]|aa|ii|uu|(?:ssa|sta|lla|lta|lle|vat|nen|kin)$/i,
  hu: /[áéíóöőúüű]|sz|gy|(?:ban|ben|nak|nek|val|vel|bol|nal)$/i,
  ro: /[ăâîșțşţ]|(?:ului|ilor|elor|ul|uri|ește)$/i,
  tr: /[çğıöşüİ]|yor|(?:l[ae]r[ıi]?|[dt][ae]n?|mak|mek|[dt][ıiuü]|iyle)$/,
  id: /^(?:me[mn]|ber|ter|pe[mn])[a-z]{4}|(?:nya|kan|lah)$/i,
  pl: /[ąćęłńóśźż]|sz|cz|rz|(?:owa|ego|ych|ami|ach)$/i,
  cs: /[áčďéěíňóřšťúůýž]|(?:ova|ami|ach|eho)$/i,
};

/** Letters that hardly a word of another language has: one such word tells the language. */
const LETTERS: Partial<Record<OtherLanguage, RegExp>> = {
  de: /ß/,
  es: /ñ/,
  pt: /[ãõ]/,
  da: /[æø]/i,
  no: /[æø]/i,
  sv: /(?=.*å)(?=.*[äö])/i,
  fi: /ää|öö|yö|[sl][stl]ä$|(?:aa|uu|ii).*(?:aa|uu|ii)/i,
  hu: /[őű]|[áéíóöúü].*(?:b[ae]n|n[ae]k|v[ae]l|b[óő]l)$/i,
  ro: /[ățțș]/i,
  tr: /[ğışİ]/,
  pl: /[łąęśźżćń]/i,
  cs: /[čšžřůěďťň]/i,
};

const ENGLISH: readonly Language[] = ["en"];

/** Languages that a word as written tells, each by its place in `LANGUAGES`. */
export interface LanguageSigns {
  written: string;
  /** Languages that have it as a function word, or letters that hardly another one has. */
  languages: readonly number[];
  /** Languages of its letters or its ending. */
  cues: readonly number[];
  /** Whether a dictionary of English has the word; null until that was asked. */
  isEnglish: boolean | null;
}

const placeOf = (language: Language) => LANGUAGES.indexOf(language);
const OTHERS = LANGUAGES.filter((one) => one !== "en");
const NONE: readonly number[] = [];

/** Returns the languages that a word as written tells. */
export function languageSigns(written: string): LanguageSigns {
  // Vietnamese has no forms of words, and is read as English.
  const languages = isVietnamese(written) ? ENGLISH : languagesWith(written);
  if (languages.length > 0) {
    return { written, languages: languages.map(placeOf), cues: NONE, isEnglish: false };
  }
  const letters = OTHERS.filter((one) => LETTERS[one]?.test(written));
  const cues = written.length < 4 ? [] : OTHERS.filter((one) => CUES[one].test(written));
  return {
    written,
    languages: letters.length === 0 ? NONE : letters.map(placeOf),
    cues: cues.length === 0 ? NONE : cues.map(placeOf),
    isEnglish: /^[a-z]{3,}$/i.test(written) ? null : false,
  };
}

/** Shares of a function word that other signs count; an English word counts one beside one. */
const CUE = 0.5;
const ENGLISH_WORD = 0.5;
/** Words with a cue that a text without function words of the language has. */
const MIN_CUES = 2;

/** Counts of a text, which are used for one text after the other. */
const own = new Float64Array(LANGUAGES.length);
const cueCounts = new Float64Array(LANGUAGES.length);
/** One function word is enough for these. */
const IS_DISTINCT = LANGUAGES.map(
  (one) => !["es", "fr", "hu", "it", "nl", "pt", "ro"].includes(one),
);
const ENGLISH_PLACE = placeOf("en");

/**
 * Guesses the language of words: the one with the most function words, letters and endings of its
 * own. English if none has more than that has, counting words of its dictionary.
 */
export function guessLanguage(words: readonly LanguageSigns[]): Language {
  own.fill(0);
  cueCounts.fill(0);
  for (const { languages, cues } of words) {
    for (const place of languages) own[place]! += 1;
    for (const place of cues) cueCounts[place]! += 1;
  }
  const english = own[ENGLISH_PLACE]!;
  const best = bestOther(english);
  if (best < 0) return "en";
  const known = words.filter(isEnglishWord).length;
  const share = own[best]! > 1 ? ENGLISH_WORD : 1;
  const place = known === 0 ? best : bestOther(english + share * known);
  return place < 0 ? "en" : LANGUAGES[place]!;
}

/** Returns the place of the language with the highest count above `most`; −1 if there is none. */
function bestOther(most: number): number {
  let best = -1;
  let highest = most;
  for (let place = 0; place < LANGUAGES.length; place++) {
    const [count, cues] = [own[place]!, cueCounts[place]!];
    if (place === ENGLISH_PLACE || (count === 0 && cues < MIN_CUES)) continue;
    const sum = (count === 0 ? -CUE : count) + CUE * cues;
    // Names and titles have one function word.
    const isName = count === 1 && cues === 0 && !IS_DISTINCT[place];
    if (!isName && sum > highest) [best, highest] = [place, sum];
  }
  return best;
}

function isEnglishWord(word: LanguageSigns): boolean {
  word.isEnglish ??= isKnownStem(stemmer(word.written.toLowerCase()));
  return word.isEnglish;
}
