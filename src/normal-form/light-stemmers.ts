/** An ending and what a stem has instead of it. The first that fits is taken. */
type Endings = readonly (readonly [ending: RegExp, replacement: string])[];

function replaceEnding(word: string, endings: Endings): string {
  const [ending, replacement] = endings.find(([one]) => one.test(word)) ?? [];
  return ending === undefined ? word : word.replace(ending, replacement!);
}

const POLISH: Endings = [
  // Verbs such as "gotować" and "gotuje".
  [/(?<=..)(?:owac|owal[aoiy]?|uje(?:sz|my|cie)?|uja|uj)$/, ""],
  // Past, infinitive and conditional; "l" is "ł", too.
  [/(?<=..)(?:[aiy]|ia|ie)l(?:[aoiy]|em|am|es|as|ismy|ysmy|iscie|yscie)?(?:by(?:m|s|smy)?)?$/, ""],
  [/(?<=..)(?:[aiye]|ia|ie|na)c$/, ""],
  [/(?<=..)(?:[aei]sz|[aei]my|[aei]cie|aja|ajac[aeyi]?(?:ch|go|m|j)?|ajcie|aj)$/, ""],
  // Adjectives.
  [/(?<=..)(?:iejsz)?(?:iego|ego|iemu|emu|iej|ych|ich|ymi|imi|ym|im)$/, ""],
  // Soft consonants before the ending of a locative.
  [/(?<=..)scie$/, "st"],
  [/(?<=ie)cie$/, "t"],
  [/(?<=..)dzie$/, "d"],
  [/(?<=...)rze$/, "r"],
  // Nouns.
  [/(?<=..)(?:iowie|owie|iowi|owi|iami|ami|iach|ach|iom|om|iem|em|ow)$/, ""],
  [/(?<=..)(?:ia|ie|iu|io|[aeiouy])$/, ""],
];

/**
 * Stems a folded Polish word: endings as in Snowball's stemmer (Shachnev). A vowel that endings
 * drop or change is dropped or changed in all stems: "książek" and "miasto" as well.
 */
export function stemPolish(word: string): string {
  return replaceEnding(word, POLISH)
    .replace(/(?<=...)ow$/, "")
    .replace(/(?<=.)sc$/, "st")
    .replace(/^([^aeiouy]{1,2})i?e([^aeiouy])$/, "$1$2")
    .replace(/(?<=..)([^aeiouy])i?e([knrlwc])$/, "$1$2")
    .replace(/ie(?=[^aeiouy]+$)/, "ia");
}

const CZECH: Endings = [
  [/(?<=..)(?:ovat|(?<=[aeiouy].+)[aei]t|al[aoiy]?|il[aoiy]?|el[aoiy]?|uji|uje[ms]?)$/, ""],
  [/(?<=...)(?:atech|atum|etem|eti|ete)$/, ""],
  [/(?<=..)(?:ych|ech|ich|ach|ymi|emi|imi|ami|ama|ove|ovi|eho|iho|emu|imu|um|am|em|ym|im|ou)$/, ""],
  [/(?<=..)(?:mi|us|[aeiouy])$/, ""],
];

/**
 * Stems a folded Czech word (Dolamic and Savoy, "Indexing and stemming approaches for the Czech
 * language", 2009: light). Consonants that endings soften are hard in all stems.
 */
export function stemCzech(word: string): string {
  return replaceEnding(word, CZECH)
    .replace(/(?<=..)([^aeiouy])e([knrlcv])$/, "$1$2")
    .replace(/(?<=..)(?:ct|st)$/, (end) => (end === "ct" ? "ck" : "sk"))
    .replace(/(?<=...)c$/, "k")
    .replace(/(?<=...)z$/, "h");
}

/** Strips endings of verbs, which the stemmer for nouns leaves. */
const TURKISH_VERB =
  /(?<=..)(?:m[ea]k|[ıiuü]yor(?:um|sun|uz|sunuz|lar)?|[ea]c[ea][kğ](?:[ıi]m|s[ıi]n|[ıi]z|l[ea]r)?)$/;
const HARD: Record<string, string> = { b: "p", c: "ç", d: "t", ğ: "k", g: "k" };

/** Stems a Turkish word, whose letters tell how endings sound, by a stemmer for nouns. */
export function stemTurkish(word: string, stemNoun: (word: string) => string): string {
  // "karınca" is no form of "kar".
  if (/[cç][ae]$/.test(word)) return word;
  // "gemi" has no ending, but "evimi" has.
  if (/^[^aeıioöuü]?[aeıioöuü]m[ıiuü]$/.test(word)) return word.slice(0, -1);
  const verb = word.replace(TURKISH_VERB, "");
  const stem = verb === word ? stemNoun(word) : verb;
  return stem.replace(/(?<=...)[aeıiuü]$/, "").replace(/(?<=.)[bcdğg]$/, (letter) => HARD[letter]!);
}

const UKRAINIAN_VERB = /^(.{2,}[аиіяу])(?:ти|ся|ють|єш|є|ємо|єте|(?<!і)в|ла|ло|ли|й|йте|ючи|вши)$/;

/**
 * Stems a folded Ukrainian word by a stemmer for nouns. "і" of a closed syllable is "о" elsewhere:
 * "кінь" and "коні".
 */
export function stemUkrainian(word: string, stemNoun: (word: string) => string): string {
  const spelled = word.replace(/^(..)ів$/, "$1єв");
  const [, verb] = UKRAINIAN_VERB.exec(spelled) ?? [];
  // The stemmer isn't the same for each call with one of these endings.
  const stem = verb ?? (/ост[ьі]?$/.test(spelled) ? spelled : stemNoun(spelled));
  return stem.replace(/і(?=[^аеиоуюяіїє]+$)/, "о");
}

/** Drops the vowel that words have before their last consonant without an ending: "подарок". */
export function dropFleetingVowel(stem: string): string {
  return stem.replace(/(?<=.[^аеиоуыэюяіє])[ое](?=[кнц]$)/, "");
}

/** Tests whether a folded Cyrillic word can't be Russian. */
export function isUkrainian(word: string): boolean {
  return /[ієґ]|(?<=..[аиія])ти$|(?<=..[ая])ють$/.test(word);
}

/** Strips plural and case of a Tamil noun, and writes what is left as its plain form. */
export function stemTamil(word: string): string {
  const noun = word.replace(/(?<=..கள)(?:ை|ில்|ின்|ுக்கு|ுடன்|ால்|ிடம்)$/, "்");
  if (/(?<=..)கள்$/.test(noun)) return noun.replace(/ங்கள்$/, "ம்").replace(/(?:க்)?கள்$/, "");
  // "வீடு" is "வீட்டில்", "ஆறு" is "ஆற்றில்".
  const doubled = /(?<=.)(ட்ட|ற்ற)(?:ை|ில்|ின்|ுக்கு|ிற்கு|ால்|ுடன்)$/;
  if (doubled.test(noun)) return noun.replace(doubled, (_, end: string) => `${end[0]!}ு`);
  return noun.replace(/(?<=.)த்த(?:ை|ில்|ின்|ுக்கு|ால்)$/, "ம்").replace(/(?<=..)ய(?:ை|ில்|ின்|ால்)$/, "");
}

/** Endings of nouns, adjectives and verbs, those that have another within first. */
const SCANDINAVIAN: Endings = [
  // Endings behind a vowel: "byen", "søerne", "skoene".
  [/(?<=^[^aeiouy]{0,3}[aeiouy])(?:en|et|er|erne|ene|ns?|ens|ers)$/, ""],
  [/(?<=...)(?:heterna|hetens?|heter|heds?|heden|heder|het)$/, ""],
  ...[
    "arnas?|ornas?|ernas?|ernes?|enes?|enas?|endes?|ande[ts]?|ades?|edes?",
    "arens?|arne|erne|ast|est[ae]?|are|ere|ets|ens|ans|ers|ars|ors",
    "en|et|er|ar|or|as|es|an|at|ad|a|e",
  ].map((endings) => [new RegExp(`(?<=[aeiouy].*[^aeiouy])(?:${endings})$`), ""] as const),
  [/(?<=...[bcdfghjlmnoprtvyz])s$/, ""],
];

/**
 * Stems a folded Danish, Norwegian or Swedish word by the endings of Snowball's stemmers of all
 * three. Drops "t" and "d" of a past, and the vowel that words have before their last consonant
 * without an ending, and writes "mm" and "nn" once, which Swedish and Danish have before endings.
 */
export function stemScandinavian(word: string): string {
  return replaceEnding(word, SCANDINAVIAN)
    .replace(/(?<=[aeiouy].*[^aeiouy])an$/, "")
    .replace(/(?<=..[skp])t$|(?<=..[vj])d$/, "")
    .replace(/(?<=.[^aeiouy])e([lrn])$/, "$1")
    .replace(/(?<=[aeiouy])(?:([^aeiouy])\1(?=[lrn]$)|([mn])\2$)/, "$1$2");
}
