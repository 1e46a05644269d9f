import { fold } from "./fold.ts";
import type { Language } from "./function-words.ts";

/** How a language writes numbers in words (CLDR, rule-based number formats: "spellout"). */
interface NumberWords {
  /** Words of 2 to 19, in order; several of one value are joined by "/". */
  small: string;
  /** Words of 20, 30 … 90. */
  tens: string;
  /** Words for 1 within a number, which alone are articles. */
  ones: string;
  /** Words of 100, 1,000, a million and 1,000 millions, each with its plural. */
  scales: string;
  /** Word between tens and units, if there is one. */
  and: string;
  /** Whether tens and units, and hundreds, are one word; and in which order. */
  joined?: "units first" | "tens first";
  /** Ordinal numbers of which the cardinal isn't a part, from the first. */
  ordinals: string;
  /** Endings of the other ordinals behind the cardinal. */
  ordinalEnding?: RegExp;
}

type Spelled = Partial<Record<Language | "cyrillic" | "devanagari", NumberWords>>;

const WORDS: Spelled = {
  en: {
    small: `two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
      sixteen seventeen eighteen nineteen`,
    tens: "twenty thirty forty fifty sixty seventy eighty ninety",
    ones: "one a",
    scales: "hundred thousand million billion",
    and: "and",
    ordinals: "",
  },
  de: {
    small: `zwei/zwo drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn
      sechzehn siebzehn achtzehn neunzehn`,
    tens: "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    ones: "ein eins eine einer",
    scales: "hundert tausend million/millionen milliarde/milliarden",
    and: "und",
    joined: "units first",
    ordinals: "erst zweit dritt viert fünft sechst siebt acht neunt zehnt",
    ordinalEnding: /s?t?(?<=t)e[nrsm]?$/,
  },
  fr: {
    small: `deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize
      dixsept dixhuit dixneuf`,
    tens: "vingt/vingts trente quarante cinquante soixante septante/- huitante/octante nonante/-",
    ones: "un une",
    scales: "cent/cents mille million/millions milliard/milliards",
    and: "et",
    ordinals: `premier/première deuxième troisième quatrième cinquième sixième septième huitième
      neuvième dixième onzième douzième`,
  },
  es: {
    small: `dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
      diecisiete dieciocho diecinueve`,
    tens: "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    ones: "uno un una",
    scales: "cien/ciento mil millón/millones -",
    and: "y",
    joined: "tens first",
    ordinals: `primero/primer/primera segundo/segunda tercero/tercer/tercera -/cuarta quinto sexto/sexta
      séptimo/séptima octavo/octava noveno/novena décimo/décima`,
  },
  it: {
    small: `due tre quattro cinque -/sei sette otto nove dieci undici dodici tredici quattordici
      quindici sedici diciassette diciotto diciannove`,
    tens: "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    ones: "uno un una",
    scales: "cento mille/mila milione/milioni miliardo/miliardi",
    and: "e",
    joined: "tens first",
    ordinals: `primo/prima secondo/seconda terzo/terza -/quarta quinto/quinta sesto/sesta
      settimo/settima ottavo/ottava nono/nona decimo/decima`,
  },
  pt: {
    small: `dois/duas três quatro cinco seis sete oito nove dez onze doze treze catorze/quatorze quinze
      dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove`,
    tens: "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    ones: "um uma",
    scales: "cem/cento mil milhão/milhões bilhão/bilhões",
    and: "e",
    ordinals: `primeiro/primeira segundo/segunda terceiro/terceira -/quarta quinto sexto/- sétimo/sétima
      oitavo/oitava nono/nona décimo/décima`,
  },
  nl: {
    small: `twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien
      zeventien achttien negentien`,
    tens: "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
    ones: "een",
    scales: "honderd duizend miljoen miljard",
    and: "en",
    joined: "units first",
    ordinals: "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende",
    ordinalEnding: /(?:ste|de)$/,
  },
  sv: {
    small: `två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton femton sexton sjutton arton
      nitton`,
    tens: "tjugo trettio fyrtio femtio sextio sjuttio åttio nittio",
    ones: "en ett",
    scales: "hundra tusen miljon/miljoner miljard/miljarder",
    and: "och",
    joined: "tens first",
    ordinals: "första andra tredje fjärde femte sjätte sjunde åttonde nionde tionde",
    ordinalEnding: /(?:nde|de)$/,
  },
  da: {
    small: `to tre fire fem seks syv otte ni ti elleve tolv tretten fjorten femten seksten sytten atten
      nitten`,
    tens: "tyve tredive fyrre halvtreds tres halvfjerds firs halvfems",
    ones: "en et",
    scales: "hundrede/hundred tusind/tusinde million/millioner milliard/milliarder",
    and: "og",
    joined: "units first",
    ordinals: "første anden/andet tredje fjerde femte sjette syvende ottende niende tiende",
    ordinalEnding: /(?:ende|nde|te)$/,
  },
  no: {
    small: `to tre fire fem seks sju/syv åtte ni ti elleve tolv tretten fjorten femten seksten sytten
      atten nitten`,
    tens: "tjue/tyve tretti/tredve førti femti seksti sytti åtti nitti",
    ones: "en ett ei",
    scales: "hundre tusen million/millioner milliard/milliarder",
    and: "og",
    joined: "tens first",
    ordinals: "første andre tredje fjerde femte sjette sjuende/syvende åttende niende tiende",
    ordinalEnding: /(?:ende|nde|te)$/,
  },
  pl: {
    small: `dwa/dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście
      trzynaście czternaście piętnaście szesnaście siedemnaście osiemnaście dziewiętnaście`,
    tens: `dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt
      osiemdziesiąt dziewięćdziesiąt`,
    ones: "jeden jedna jedno",
    scales: "sto tysiąc/tysiące/tysięcy milion/miliony/milionów miliard/miliardy",
    and: "-",
    ordinals: `pierwszego drugiego trzeciego czwartego piątego szóstego siódmego ósmego dziewiątego
      dziesiątego jedenastego dwunastego trzynastego czternastego piętnastego szesnastego
      siedemnastego osiemnastego dziewiętnastego dwudziestego`,
  },
  cs: {
    small: `dva/dvě tři čtyři pět šest sedm osm devět deset jedenáct dvanáct třináct čtrnáct patnáct
      šestnáct sedmnáct osmnáct devatenáct`,
    tens: "dvacet třicet čtyřicet padesát šedesát sedmdesát osmdesát devadesát",
    ones: "jeden jedna jedno",
    scales: "sto tisíc/tisíce milion/miliony/milionů miliarda/miliardy",
    and: "-",
    ordinals: "prvního druhého třetího čtvrtého pátého šestého sedmého osmého devátého desátého",
  },
  fi: {
    small: `kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen yksitoista kaksitoista
      kolmetoista neljätoista viisitoista kuusitoista seitsemäntoista kahdeksantoista
      yhdeksäntoista`,
    tens: `kaksikymmentä kolmekymmentä neljäkymmentä viisikymmentä kuusikymmentä seitsemänkymmentä
      kahdeksankymmentä yhdeksänkymmentä`,
    ones: "yksi",
    scales: "sata/sataa tuhat/tuhatta miljoona/miljoonaa miljardi/miljardia",
    and: "-",
    joined: "tens first",
    ordinals: "",
  },
  hu: {
    small: `kettő/két három négy öt hat hét nyolc kilenc tíz tizenegy tizenkettő tizenhárom tizennégy
      tizenöt tizenhat tizenhét tizennyolc tizenkilenc`,
    tens: "húsz harminc negyven ötven hatvan hetven nyolcvan kilencven",
    ones: "egy",
    scales: "száz ezer millió milliárd",
    and: "-",
    joined: "tens first",
    ordinals: "",
  },
  ro: {
    small: `doi/două trei patru cinci șase șapte opt nouă zece unsprezece doisprezece/douăsprezece
      treisprezece paisprezece cincisprezece șaisprezece șaptesprezece optsprezece nouăsprezece`,
    tens: `douăzeci treizeci patruzeci cincizeci șaizeci șaptezeci optzeci nouăzeci`,
    ones: "unu",
    scales: "sută/sute mie/mii milion/milioane miliard/miliarde",
    and: "și",
    ordinals: "",
  },
  tr: {
    small: "iki üç dört beş altı yedi sekiz dokuz on",
    tens: "yirmi otuz kırk elli altmış yetmiş seksen doksan",
    ones: "bir",
    scales: "yüz bin milyon milyar",
    and: "-",
    ordinals: "",
  },
  id: {
    small: "dua tiga empat lima enam tujuh delapan sembilan sepuluh sebelas",
    tens: "",
    ones: "satu",
    scales: "ratus ribu juta miliar",
    and: "-",
    ordinals: "",
  },
  cyrillic: {
    small: `два/две/дві три четыре/чотири пять/пʼять шесть/шість семь/сім восемь/вісім девять
      десять одиннадцать/одинадцять двенадцать/дванадцять тринадцать/тринадцять
      четырнадцать/чотирнадцять пятнадцать/пятнадцять шестнадцать/шістнадцять
      семнадцать/сімнадцять восемнадцать/вісімнадцять девятнадцать/девятнадцять`,
    tens: `двадцать/двадцять тридцать/тридцять сорок пятьдесят/пятдесят шестьдесят/шістдесят
      семьдесят/сімдесят восемьдесят/вісімдесят девяносто/девяносто`,
    ones: "один одна одно одну",
    scales: "сто тысяча/тысячи/тысяч/тисяча/тисячі/тисяч миллион/миллиона/миллионов/мільйон -",
    and: "-",
    ordinals: `первого/першого второго/другого третьего/третього четвертого/четвертого пятого/пятого
      шестого/шостого седьмого/сьомого восьмого девятого/девятого десятого одиннадцатого
      двенадцатого тринадцатого четырнадцатого пятнадцатого шестнадцатого семнадцатого
      восемнадцатого девятнадцатого двадцатого/двадцятого`,
  },
  devanagari: {
    small: `दो तीन चार पांच/पाँच छह/छः/छे सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह/पन्द्रह सोलह
      सत्रह अठारह उन्नीस`,
    tens: "बीस तीस चालीस पचास साठ सत्तर अस्सी नब्बे",
    ones: "एक",
    scales: "सौ हजार/हज़ार - -",
    and: "-",
    ordinals: "",
  },
};

/** What a word is within a number. */
export interface NumberWord {
  kind: "small" | "tens" | "one" | "scale" | "ordinal" | "joined" | "digits" | "other";
  value: number;
}

type Tables = Record<"words" | "ordinals", Map<string, NumberWord>>;

const SCALES = [100, 1000, 1_000_000, 1_000_000_000];
const tables = new Map<NumberWords, Tables>();

function tablesOf(spelled: NumberWords): Tables {
  const known = tables.get(spelled);
  if (known) return known;
  const [words, ordinals] = [new Map<string, NumberWord>(), new Map<string, NumberWord>()];
  const add = (list: string, kind: NumberWord["kind"], valueOf: (i: number) => number) => {
    const into = kind === "ordinal" ? ordinals : words;
    for (const [i, alternatives] of list.split(/\s+/).entries()) {
      for (const word of alternatives.split("/")) into.set(fold(word), { kind, value: valueOf(i) });
    }
  };
  add(spelled.small, "small", (i) => i + 2);
  add(spelled.tens, "tens", (i) => 10 * (i + 2));
  add(spelled.ones, "one", () => 1);
  add(spelled.scales, "scale", (i) => SCALES[i]!);
  add(spelled.ordinals, "ordinal", (i) => i + 1);
  tables.set(spelled, { words, ordinals });
  return { words, ordinals };
}

function spelledBy(folded: string, language: Language): NumberWords | undefined {
  if (/^[a-z]/.test(folded)) return WORDS[language];
  if (/^\p{Script=Cyrillic}/u.test(folded)) return WORDS.cyrillic;
  return /^\p{Script=Devanagari}/u.test(folded) ? WORDS.devanagari : undefined;
}

/** The longest number that is written as one word has fewer letters. */
const MAX_LETTERS = 40;

/** Returns what a folded word is within a number of a language; null for other words. */
export function readNumberWord(folded: string, language: Language): NumberWord | null {
  const spelled = folded.length > MAX_LETTERS ? undefined : spelledBy(folded, language);
  if (spelled === undefined || !/^\p{L}/u.test(folded)) return null;
  const { words, ordinals } = tablesOf(spelled);
  const found = words.get(folded) ?? ordinals.get(folded);
  if (found) return found;
  const joined = spelled.joined ? readJoined(folded, spelled) : null;
  if (joined !== null) return { kind: "joined", value: joined };
  return readOrdinal(folded, spelled);
}

/** Reads the cardinal of an ordinal. */
function readOrdinal(folded: string, spelled: NumberWords): NumberWord | null {
  const { ordinalEnding } = spelled;
  if (ordinalEnding === undefined) return null;
  const { words, ordinals } = tablesOf(spelled);
  const own = ordinals.get(folded.replace(/e[nrsm]?$/, ""));
  if (own && !folded.endsWith("t")) return own;
  const cardinal = folded.replace(ordinalEnding, "");
  if (cardinal === folded) return null;
  const value = words.get(cardinal)?.value ?? readJoined(cardinal, spelled);
  return value !== null && value > 2 ? { kind: "ordinal", value } : null;
}

/** Reads a number of several words that are written as one: "dreihundertfünfzig". */
function readJoined(word: string, spelled: NumberWords): number | null {
  const { words } = tablesOf(spelled);
  const own = words.get(word);
  if (own) return own.value;
  for (const scale of [1000, 100]) {
    const names = [...words].filter(([, { value }]) => value === scale).map(([name]) => name);
    for (const name of names) {
      const at = word.indexOf(name);
      if (at < 0) continue;
      const [before, after] = [word.slice(0, at), word.slice(at + name.length)];
      const times = before === "" ? 1 : readJoined(before, spelled);
      const rest =
        after === "" ? 0 : readJoined(after.replace(new RegExp(`^${spelled.and}`), ""), spelled);
      return times === null || rest === null || times >= scale || rest >= scale
        ? null
        : times * scale + rest;
    }
  }
  return spelled.joined === "units first"
    ? readUnitsFirst(word, spelled)
    : readTensFirst(word, spelled);
}

function readUnitsFirst(word: string, spelled: NumberWords): number | null {
  const { words } = tablesOf(spelled);
  for (const [ten, { kind, value }] of words) {
    if (kind !== "tens" || !word.endsWith(spelled.and + ten)) continue;
    const unit = words.get(word.slice(0, -ten.length - spelled.and.length));
    if (unit && unit.value < 10) return value + unit.value;
  }
  return null;
}

/** "ventuno" is "venti" and "uno", "veintidós" "veinte", "huszonkettő" "húsz". */
function readTensFirst(word: string, spelled: NumberWords): number | null {
  const { words } = tablesOf(spelled);
  for (const [ten, { kind, value }] of words) {
    if (kind !== "tens") continue;
    const beginnings = [
      ten,
      ten.slice(0, -1),
      `${ten.slice(0, -1)}i`,
      ten === "husz" ? "huszon" : ten,
    ];
    for (const beginning of beginnings) {
      const unit = word.startsWith(beginning) ? words.get(word.slice(beginning.length)) : undefined;
      if (unit && unit.value < 10) return value + unit.value;
    }
  }
  return null;
}

/** Returns the word that a language has between the words of a number, folded. */
export function numberConjunction(language: Language): string {
  return fold(WORDS[language]?.and ?? "-");
}
