import type { Language } from "./function-words.ts";

/** How a language writes numbers in words (CLDR, rule-based number formats: "spellout"). */
export interface SpelledNumbers {
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
  joined?: "units first" | "tens first" | "either";
  /** Ordinal numbers of which the cardinal isn't a part, from the first. */
  ordinals: string;
  /** Endings of the other ordinals behind the cardinal. */
  ordinalEnding?: RegExp;
}

type Spelled = Partial<Record<Language | "cyrillic" | "devanagari", SpelledNumbers>>;

/** The words of each language, and of scripts that aren't told apart by language. */
export const SPELLED_NUMBERS: Spelled = {
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
  scandinavian: {
    small: `två/to tre fyra/fire fem sex/seks sju/syv åtta/otte/åtte nio/ni tio/ti elva/elleve
      tolv tretton/tretten fjorton/fjorten femton/femten sexton/seksten sjutton/sytten
      arton/atten nitton/nitten`,
    tens: `tjugo/tjue/tyve trettio/tretti/tredive fyrtio/førti/fyrre femtio/femti/halvtreds
      sextio/seksti/tres sjuttio/sytti/halvfjerds åttio/åtti/firs nittio/nitti/halvfems`,
    ones: "en ett et ei",
    scales: `hundra/hundrede/hundred/hundre tusen/tusind/tusinde
      miljon/miljoner/million/millioner miljard/miljarder/milliard/milliarder`,
    and: "og",
    joined: "either",
    ordinals: `första/første andra/anden/andet/andre tredje fjärde/fjerde femte sjätte/sjette
      sjunde/syvende/sjuende åttonde/ottende/åttende nionde/niende tionde/tiende elfte/ellevte
      tolfte/tolvte`,
    ordinalEnding: /(?:ende|nde|de|te)$/,
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
    ordinals: "întâi",
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
