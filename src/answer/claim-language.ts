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

/** Makes a regular expression's alternatives of words and phrases that are separated by `|`. */
function anyOf(words: string): string {
  const alternatives = words
    .split("|")
    .map((word) => word.trim().replaceAll(/\s+/g, String.raw`\s`));
  return `(?:${alternatives.join("|")})`;
}

/** Words for secrets. */
const SECRETS = anyOf(
  String.raw`pass[\s-]?words? | pass[\s-]?codes? | pass[\s-]?phrases? | pwd | log-?ins? |
  secret\s(?:word|phrase|number|code|question)s? | credentials? | user\s?names? |
  (?:api|access|private|secret|license|product)[\s-]keys? |
  (?:access|security|verification|pin|entry|door|login|one-time)[\s-]codes? |
  (?:access|api|auth|authentication|bearer)[\s-]tokens? | log-?in (?:data|details|name) |
  (?:seed|recovery) phrases? | (?:(?:credit|debit) )?card numbers? | account numbers? |
  iban | cvv | cvc | otp | passwort | passwörter | kennwort | kennwörter | zugangsdaten |
  zugangscode | mots? de passe | code d['’]accès | contraseñas? | clave de acceso |
  parola d['’]ordine | codice di accesso | senhas? | wachtwoord(?:en)? | lösenord | hasło | şifre |
  пароль | пароля | код доступа`,
);
const SECRETS_WITHOUT_SPACES = anyOf(
  "密码 | 密碼 | 口令 | パスワード | 暗証番号 | 비밀번호 | كلمة المرور | كلمة السر | पासवर्ड | รหัสผ่าน",
);
const CREDENTIAL_FORMS: readonly RegExp[] = [
  new RegExp(String.raw`(?<!\p{L})${SECRETS}(?!\p{L})|${SECRETS_WITHOUT_SPACES}`, "iu"),
  /(?<!\p{L})PIN(?!\p{L})/u,
];

/** Tests whether a sentence is about a password, a key, a card number or another secret. */
export function namesCredential(sentence: string): boolean {
  return CREDENTIAL_FORMS.some((form) => form.test(sentence));
}

/** Verbs of instructions. */
const VERBS = anyOf(
  `answer | buy | cancel | click | confirm | delete | disable | disregard | donate | enter | execute |
  follow | forget | go | ignore | install | invest | obey | pay | provide | purchase | register |
  repeat | reply | reveal | scan | sell | send | submit | subscribe | tell | transfer | uninstall |
  upload | verify | visit | withdraw | write`,
);
/** Verbs of instructions that are also nouns or adjectives: they need an object. */
const NOUN_VERBS = anyOf(
  `call | contact | copy | dial | download | e-?mail | forward | join | log | mail | message | open |
  order | paste | phone | post | press | print | reset | ring | run | share | sign | switch | tap |
  telephone | text | touch | trust | type | update | use | whatsapp | wire`,
);
const OBJECT = anyOf(
  String.raw`a | all | an | any | her | here | him | in(?:to)? | it | me | my | now | our | out | that |
  the | their | them | this | up | us | your | [\d+@#]`,
);
/** Polite forms in other languages, which start a sentence. */
const FOREIGN_INSTRUCTIONS = anyOf(
  `(?:rufen|klicken|besuchen|senden|schicken|zahlen|überweisen|öffnen|geben|melden|gehen|folgen) sie |
  (?:ignorieren|laden|vergessen) sie | appelez | cliquez | visitez | envoyez | payez | ouvrez |
  contactez | téléchargez | ignorez | connectez | suivez | donnez | allez | llame | haga clic |
  visite | envíe | pague | abra | contacte | descargue | ignore | siga | vaya | chiami | clicchi |
  visiti | invii | paghi | apra | contatti | scarichi | ligue | clique | envie | baixe | позвоните |
  нажмите | перейдите | отправьте | заплатите | откройте | игнорируйте | اتصل | انقر | أرسل | ادفع`,
);
const PLEASE = anyOf("please | bitte | por favor | s['’]il vous plaît | per favore | пожалуйста");
const ASIAN_INSTRUCTIONS = anyOf(
  "请 | 點擊 | 点击 | 拨打 | 撥打 | 访问 | 訪問 | してください | 하세요 | 하십시오",
);
const READERS = anyOf(
  "you | one | users? | viewers? | readers? | visitors? | everyone | customers? | people",
);
const OBLIGATIONS = anyOf(
  `must | should | shall | needs? to | ha(?:ve|s) to | ought to |
  are (?:required|asked|told|advised) to`,
);
const ADVICE = anyOf("best | better | advisable | necessary | required | recommended | important");
const SENTENCE_START = String.raw`(?:^|[.!?:;|\n]\s*)["“'(]?`;
const ADVERBS = `(?:${anyOf("please | now | just | then | always | never | simply | first,? | do not | don['’]t")}\\s+)*`;

const INSTRUCTIONS: readonly RegExp[] = [
  String.raw`${SENTENCE_START}${ADVERBS}${VERBS}(?=[.!]|$|\s+(?!(?:is|are|was|were)\b))`,
  String.raw`(?:${SENTENCE_START}|,\s*)${ADVERBS}(?:${NOUN_VERBS}|${VERBS})\s+${OBJECT}(?!\p{L})`,
  String.raw`(?<!\p{L})${PLEASE}(?!\p{L})`,
  String.raw`${SENTENCE_START}${FOREIGN_INSTRUCTIONS}(?!\p{L})`,
  String.raw`(?<!\p{L})${READERS}\s+${OBLIGATIONS}(?!\p{L})`,
  String.raw`(?<!\p{L})(?:is|be)\s+${ADVICE}\s+to(?!\p{L})`,
  String.raw`(?<!\p{L})(?:asks?|tells?|urges?|invites?)\s+${READERS}\s+to(?!\p{L})`,
  String.raw`(?:^|,\s*)to\s[^,]+,\s*(?:${NOUN_VERBS}|${VERBS})(?!\p{L})`,
  ASIAN_INSTRUCTIONS,
].map((source) => new RegExp(source, "iu"));

/** Tests whether a sentence tells its reader to do something, in some languages. */
export function hasInstruction(sentence: string): boolean {
  const text = sentence.replaceAll(/\s{2,}/g, (space) => (space.includes("\n") ? "\n" : " "));
  return INSTRUCTIONS.some((form) => form.test(text));
}

/** Words that agree or disagree with a question, and state nothing else. */
export const YES_NO: ReadonlySet<string> = new Set(
  "yes no ja nein oui non si sim sì да нет".split(" "),
);

/** Words that describe only what an image shows, and answer a question in a word. */
export const VISUAL_WORDS: ReadonlySet<string> = new Set(
  `black white grey gray red green blue yellow orange pink purple brown beige golden silver
   dark bright light colour color coloured colored zero one two three four five six seven eight nine
   ten eleven twelve left right middle centre center top bottom front back background foreground
   big small large little tall round square empty full open closed outside inside indoors outdoors
   day night sunny cloudy rainy snowy visible seen shown`.split(/\s+/),
);
