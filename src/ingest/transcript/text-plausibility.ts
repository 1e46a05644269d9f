/*
 * Judges whether text was decoded in the right encoding: by its words, whose letters are of one
 * script, in usual cases, and of one language.
 */

/** Letters of languages beyond a to z, the most frequent first where the script is another. */
const LATIN = [
  "éèàêçâîôûùëïœæÿü",
  "äöüß",
  "ñáéíóúü",
  "ãõçáéíóúâêôà",
  "àèéìòùîó",
  "åäöéü",
  "æøåéòôêó",
  "áéíóúýþæöð",
  "äöåéšž",
  "ąćęłńóśźż",
  "čďěňřšťůžýáéíóúľĺŕôä",
  "áéíóöőúüű",
  "ăâîşţșțéö",
  "čćđšž",
  "çğıöşüâîûi̇",
  "õäöüšž",
  "āčēģīķļņšūžōŗ",
  "ąčęėįšųūž",
  "ëçäéè",
].map((letters) => new Set(letters));
const OTHER_SCRIPTS = [
  "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
  "оаинвіертсклудмпзябгьючйхцжєїшфщґёъы",
  "аиоетнрсвлдкпмзгяъбучжщхцшфйюь",
  "аоиеунјртсдквмплзбгчћшжцђњхљфџјѓќѕџ",
  "αοιετσνηυρπκμλςωίγάόδέχήθύφβώξζψϊΰΐϋ",
  "יוהלאתרבשמנםדעקחפגכטזצסןךףץ",
  "اليمونترعبدسفهكةقحجأشطصىثذغخضءئزإظآؤپچژگ",
].map((letters) => new Map(Array.from(letters, (letter, i) => [letter, 1 - (0.9 * i) / 34])));
/** The most frequent characters of Chinese, simplified and traditional. */
const COMMON_HAN = new Set(
  "的一是不了人我在有他这这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽坏兴切護這個來說們為時會過學對裡後麼沒還發當開經頭見長動兩現將與進實點種聲話兒問機給幾業間電東關並內軍產萬體處總場師書員華報馬張難數車應親務記邊風戰許覺題統請愛讓認論義術結連遠隊帶條變聯權傳紅決達辦運區眾輕語滿寫識極黃臉錢黨設雙歷實買賣魚鳥歡樂燈塔船港灣黎明早晨日本語見行時分東京都桜近花食飲今何私彼女",
);

const WORD = /[\p{L}\p{M}’']+/gu;
const MAX_WORDS = 2000;
const USUAL_SIGN =
  /^[“”„‘’‚–—…«»‹›°·•¿¡€£©®™§№½¼¾²³\u00A0×♪♫、。「」『』，！？：；（）《》【】・〜～ー％％　،؛؟״׳–]$/u;
const UNUSUAL = /[\p{Co}\p{Cn}\u0080-\u009F\uFF61-\uFF9F\u2500-\u259F¤¦¬±µ¶ºª¨¯´¸ˇ˘˙˛˝ƒˆ˜†‡‰]/u;
const ASCII_ONLY = /^[\x20-\x7e\s]*$/;

/**
 * Returns how plausible text is, from below 0 to 1: the mean over its words with letters beyond
 * ASCII, less what signs are unusual.
 */
export function plausibility(text: string): number {
  const words =
    text
      .match(WORD)
      ?.filter((word) => !ASCII_ONLY.test(word))
      .slice(0, MAX_WORDS) ?? [];
  const letters = words.join("");
  const signs = Array.from(text.replaceAll(WORD, "").replaceAll(/\p{ASCII}/gu, ""));
  const unusual = signs.filter((sign) => !USUAL_SIGN.test(sign)).length;
  const odd = signs.filter((sign) => UNUSUAL.test(sign)).length;
  const length = Array.from(letters).filter((letter) => letter > "\x7f").length;
  const penalty = (unusual + odd) / Math.max(1, length + signs.length);
  if (words.length === 0) return 0.5 - penalty;
  const shape = words.reduce((sum, word) => sum + wordShape(word), 0) / words.length;
  return 0.4 * shape + 0.6 * languageFit(letters) - penalty;
}

/** Scores a word from 0 to 1: letters of one script, capitals at its beginning or throughout. */
function wordShape(word: string): number {
  const scripts = SCRIPTS.filter((script) => script.test(word)).length;
  if (scripts !== 1) return 0;
  const upper = word.replaceAll(/[^\p{Lu}]/gu, "").length;
  const lower = word.replaceAll(/[^\p{Ll}]/gu, "").length;
  if (upper === 0) return 1;
  if (lower === 0) return upper === 1 ? 0.9 : 0.6;
  return /^['’]?\p{Lu}[^\p{Lu}]*$/u.test(word)
    ? 1
    : /^\p{Ll}['’]\p{Lu}[^\p{Lu}]*$/u.test(word)
      ? 0.9
      : 0;
}

const SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Arabic}/u,
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
  /\p{Script=Hangul}/u,
  /[\u0E00-\u0E7F]/u,
];

/** Scores the letters beyond ASCII by the one language to which most of them belong. */
function languageFit(text: string): number {
  const letters = Array.from(text.toLowerCase()).filter(
    (letter) => letter > "\x7f" && letter !== "’",
  );
  if (letters.length === 0) return 0;
  const share = (score: (letter: string) => number) =>
    letters.reduce((sum, letter) => sum + score(letter), 0) / letters.length;
  const latin = LATIN.map((set) => share((letter) => (set.has(letter) ? 0.85 : 0)));
  const others = OTHER_SCRIPTS.map((ranks) => share((letter) => ranks.get(letter) ?? 0));
  return Math.max(...latin, ...others, share(asianLetter));
}

/** Scores a letter of Chinese, Japanese or Korean by how frequent it is. */
function asianLetter(letter: string): number {
  if (/[\u3041-\u3096]/.test(letter)) return 1;
  if (/[\u30A1-\u30FA]/.test(letter)) return 0.8;
  if (/[\uAC00-\uD7A3]/.test(letter)) return 0.9;
  if (COMMON_HAN.has(letter)) return 1;
  return /\p{Script=Han}/u.test(letter) ? 0.25 : 0;
}
