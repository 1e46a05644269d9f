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
const NO_LANGUAGES: readonly Language[] = [];

/** Languages that a word as written tells: as a function word, by its letters or its ending. */
export interface LanguageSigns {
  written: string;
  languages: readonly Language[];
  letters: readonly Language[];
  cues: readonly Language[];
  /** Whether a dictionary of English has the word; null until that was asked. */
  isEnglish: boolean | null;
}

/** Returns the languages that a word as written tells. */
export function languageSigns(written: string): LanguageSigns {
  // Vietnamese has no forms of words, and is read as English.
  const languages = isVietnamese(written) ? ENGLISH : languagesWith(written);
  const isFunctionWord = languages.length > 0;
  const others = LANGUAGES.filter((one) => one !== "en");
  return {
    written,
    languages,
    letters: isFunctionWord ? NO_LANGUAGES : others.filter((one) => LETTERS[one]?.test(written)),
    cues:
      isFunctionWord || written.length < 4
        ? NO_LANGUAGES
        : others.filter((one) => CUES[one].test(written)),
    isEnglish: isFunctionWord || !/^[a-z]{3,}$/i.test(written) ? false : null,
  };
}

/** Shares of a function word that other signs count. */
const CUE = 0.5;
const ENGLISH_WORD = 0.5;
/** Words with a cue that a text without function words of the language has. */
const MIN_CUES = 2;

/**
 * Guesses the language of words: the one with the most function words, letters and endings of its
 * own. English if none has more than that has, counting words of its dictionary.
 */
export function guessLanguage(words: readonly LanguageSigns[]): Language {
  const own = new Map<Language, number>();
  let hasCues = false;
  for (const { languages, letters, cues } of words) {
    for (const language of languages) own.set(language, (own.get(language) ?? 0) + 1);
    for (const language of letters) own.set(language, (own.get(language) ?? 0) + 1);
    hasCues ||= cues.length > 0;
  }
  const english = own.get("en") ?? 0;
  let isForeign = hasCues;
  for (const [, count] of own) if (count > english) isForeign = true;
  if (!isForeign) return "en";
  const cueCounts = new Map<Language, number>();
  for (const { cues } of words) {
    for (const language of cues) cueCounts.set(language, (cueCounts.get(language) ?? 0) + 1);
  }
  let best: Language = "en";
  let most = english + ENGLISH_WORD * words.filter(isEnglishWord).length;
  for (const language of LANGUAGES) {
    const cues = cueCounts.get(language) ?? 0;
    if (!own.has(language) && cues < MIN_CUES) continue;
    const count = (own.get(language) ?? -CUE) + CUE * cues;
    if (count <= most || language === "en") continue;
    best = language;
    most = count;
  }
  return best;
}

function isEnglishWord(word: LanguageSigns): boolean {
  word.isEnglish ??= isKnownStem(stemmer(word.written.toLowerCase()));
  return word.isEnglish;
}
