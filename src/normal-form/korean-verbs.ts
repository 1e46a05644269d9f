const FIRST = 0xac00;
const VOWELS = 21;
const FINALS = 28;
/** Vowels and final consonants by their place in a syllable (The Unicode Standard, 3.12). */
const [EO, YEO, O, WA, WAE, OE, U, WO, EU, I] = [4, 6, 8, 9, 10, 11, 13, 14, 18, 20];
const [NONE, N, D, L, B, SS] = [0, 4, 7, 8, 17, 20];

interface Syllable {
  initial: number;
  vowel: number;
  final: number;
}

function split(syllable: string): Syllable {
  const code = syllable.codePointAt(0)! - FIRST;
  return {
    initial: Math.floor(code / (VOWELS * FINALS)),
    vowel: Math.floor(code / FINALS) % VOWELS,
    final: code % FINALS,
  };
}

const join = ({ initial, vowel, final }: Syllable) =>
  String.fromCodePoint(FIRST + (initial * VOWELS + vowel) * FINALS + final);

/** Vowels of a stem without a final consonant, and what they are together with "아" or "어". */
const CONTRACTED = new Map([
  [O, WA],
  [U, WO],
  [I, YEO],
  [OE, WAE],
]);

/** Endings behind one syllable, which alone would be the beginning of many words. */
const OPEN_ENDINGS = ["고", "서", "는", "면", "니", "지", "요", "러", "려"];
const CLOSED_ENDINGS = ["고", "는", "지", "어", "었", "아", "았", "으", "은", "을", "습", "기"];

/**
 * Returns the beginnings that forms of a Korean verb or adjective have, by its plain form:
 * "마시다" gives "마시", "마셔", "마셨", "마신" and "마실"; "하다" also "해". Empty for other words.
 */
export function koreanVerbStems(word: string): string[] {
  const plain = plainForm(word);
  if (plain !== null) return koreanVerbStems(plain);
  const [, before = "", last = ""] = /^([가-힣]*)([가-힣])다$/u.exec(word) ?? [];
  if (last === "") return [];
  if (last === "하" && before !== "") return Array.from("하해했한할합", (form) => before + form);
  const forms = syllableForms(last);
  if (before !== "") return forms.map((form) => before + form);
  // "가" begins many words, but "갔" and "가고" don't.
  return forms.flatMap((form) => {
    if (form.length > 1 || split(form).final === SS) return form;
    if (form !== last) return split(form).final === N ? `${form}다` : `${form}니`;
    const isOpen = split(form).final === NONE;
    return (isOpen ? OPEN_ENDINGS : CLOSED_ENDINGS).map((ending) => form + ending);
  });
}

/** Returns the plain form of a noun of a verb, "먹기", and of an adjective before its noun, "매운". */
function plainForm(word: string): string | null {
  if (/^[가-힣]+기$/u.test(word)) return word.replace(/기$/, "다");
  const [, before = "", vowel = ""] = /^([가-힣]*)([가-힣])운$/u.exec(word) ?? [];
  if (vowel === "" || split(vowel).final !== NONE) return null;
  return `${before}${join({ ...split(vowel), final: B })}다`;
}

/** Returns the last syllables that stems of a verb have, whose plain form has one before "다". */
function syllableForms(last: string): string[] {
  const { initial, vowel, final } = split(last);
  const withFinal = (own: number) => join({ initial, vowel, final: own });
  if (final === NONE) {
    const contracted = vowel === EU ? EO : (CONTRACTED.get(vowel) ?? vowel);
    const past = (own: number) => join({ initial, vowel: contracted, final: own });
    return [...new Set([last, withFinal(N), withFinal(B), past(SS), past(NONE)])];
  }
  // "ㄷ" is "ㄹ" before a vowel in some verbs, "ㅂ" is "우", "ㄹ" is dropped.
  if (final === D) return [last, `${withFinal(L)}어`, `${withFinal(L)}었`, `${withFinal(L)}으`];
  if (final === B) return [last, ...Array.from("우워웠", (end) => withFinal(NONE) + end)];
  return final === L ? [last, withFinal(N)] : [last];
}
