/** Frequent function words that few of the other languages have. */
const FUNCTION_WORDS: Readonly<Record<string, string>> = {
  en: "a an the and of is are was were to in on these those after before both each every many some several then while under over near behind beside above below between during here one other such your our my we you i its all any no yes but or so if than they with for that it its by from this there has have they his her at as an be he she him not what where who when how which does did do",
  de: "der die das und ist sind ein eine einen einem einer nicht mit auf von im am zu den dem des es wird werden für sich auch aus bei nach wie wer wo wann welche was ich sie er wir",
  fr: "de le la les des et est sont un une du dans sur avec pour qui que pas au aux ce cette il elle se ne par plus où quand comment quel quelle",
  es: "de el la los las y es son un una en con por para que del al se su no hay está están como dónde quién qué cuándo cuál más",
  it: "il lo la gli le e è sono un una di che in con per del della nel nella si non su dove chi cosa quando come quale più",
  pt: "o a os as e é são um uma de que em com por para do da dos das no na não se seu sua onde quem quando como qual mais",
  nl: "de het een en is zijn van op in met voor dat niet te aan er ook bij wie wat waar wanneer hoe welke ze hij",
  sv: "och är en ett det den som på i med för av att inte var vem vad när hur till från",
  pl: "i jest są na w z do się nie to że co kto gdzie kiedy jak który przez dla od",
  tr: "ve bir bu ile için da de mi ne kim nerede nasıl olan var yok çok",
};
const LANGUAGES = Object.entries(FUNCTION_WORDS).map(
  ([language, words]) => [language, new Set(words.split(" "))] as const,
);

/** Tests whether a word, in any case, is a function word of one of the languages. */
export function isFunctionWord(word: string): boolean {
  return LANGUAGES.some(([, functionWords]) => functionWords.has(word.toLowerCase()));
}

/** Scripts other than Latin. The first that has a third of a text's letters is the text's own. */
const SCRIPTS = [
  ["Jpan", /[\p{sc=Hiragana}\p{sc=Katakana}]/gu],
  ["Kore", /\p{sc=Hangul}/gu],
  ["Hani", /\p{sc=Han}/gu],
  ["Cyrl", /\p{sc=Cyrillic}/gu],
  ["Grek", /\p{sc=Greek}/gu],
  ["Arab", /\p{sc=Arabic}/gu],
  ["Hebr", /\p{sc=Hebrew}/gu],
  ["Deva", /\p{sc=Devanagari}/gu],
  ["Thai", /\p{sc=Thai}/gu],
] as const;
const SCRIPT_ALIASES: Readonly<Record<string, string>> = { Hans: "Hani", Hant: "Hani" };

/**
 * Guesses the language of a text: a code such as `de` for ten languages in Latin script, the code
 * of the script, such as `Cyrl`, for other scripts. Null for a text that is too short to tell.
 */
export function detectLanguage(text: string): string | null {
  const letterCount = text.match(/\p{L}/gu)?.length ?? 0;
  const script = SCRIPTS.find(([, letter]) => {
    return letterCount > 0 && (text.match(letter)?.length ?? 0) >= letterCount / 3;
  });
  if (script) return script[0];
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counts = LANGUAGES.map(([language, functionWords]) => {
    return { language, count: words.filter((word) => functionWords.has(word)).length };
  }).toSorted((a, b) => b.count - a.count);
  const [best, next] = counts;
  return best && best.count > (next?.count ?? 0) ? best.language : null;
}

/**
 * Converts the name ("German", "Deutsch") or tag (`de-AT`) of a language as `detectLanguage` does.
 * Null for other text.
 */
export function parseLanguage(text: string): string | null {
  const name = text.trim().toLowerCase();
  const named = LANGUAGES.find(([language]) => namesOf(language).includes(name));
  if (named) return named[0];
  try {
    const { language, script = "Latn" } = new Intl.Locale(text.trim()).maximize();
    return script === "Latn" ? language : (SCRIPT_ALIASES[script] ?? script);
  } catch {
    return null;
  }
}

function namesOf(language: string): string[] {
  return ["en", language].map((inLanguage) => {
    const names = new Intl.DisplayNames(inLanguage, { type: "language" });
    return (names.of(language) ?? language).toLowerCase();
  });
}
