import { fold, foldKana } from "./fold.ts";
import data from "./traditional-han.json" with { type: "json" };

/** Traditional characters, and behind each the simplified one, made by `npm run word-forms`. */
export interface TraditionalHanData {
  pairs: string[];
}

let simplified: Map<string, string> | null = null;

function readPairs(): Map<string, string> {
  const { pairs }: TraditionalHanData = data;
  const letters = Array.from(pairs.join(""));
  const read = new Map<string, string>();
  for (let i = 0; i < letters.length; i += 2) read.set(letters[i]!, letters[i + 1]!);
  return read;
}

/** Writes a traditional character as the simplified one. */
function simplifyHan(character: string): string {
  simplified ??= readPairs();
  return simplified.get(character) ?? character;
}

/** Folds a letter of an unsegmented script: katakana and traditional characters, too. */
export function foldLetter(letter: string): string {
  return simplifyHan(foldKana(fold(letter)));
}

const HAN_DIGITS = "〇一二三四五六七八九";
const HAN_SCALES: Record<string, number> = { 十: 10, 百: 100, 千: 1000 };
const HAN_NUMBER = /[〇零一二三四五六七八九两兩十百千]+/y;

/**
 * Reads the number in Chinese numerals at an offset, as its digits: "二〇〇八" is "2008", "二十" is
 * "20". Null if there is none.
 */
export function readHanNumber(text: string, at: number): { digits: string; end: number } | null {
  HAN_NUMBER.lastIndex = at;
  const [written] = HAN_NUMBER.exec(text) ?? [];
  if (written === undefined) return null;
  const end = at + written.length;
  const numerals = Array.from(written.replaceAll("零", "〇").replaceAll(/[两兩]/g, "二"));
  if (numerals.every((numeral) => HAN_DIGITS.includes(numeral))) {
    return { digits: numerals.map((numeral) => HAN_DIGITS.indexOf(numeral)).join(""), end };
  }
  let [total, digit] = [0, 0];
  for (const numeral of numerals) {
    const scale = HAN_SCALES[numeral];
    if (scale === undefined) digit = HAN_DIGITS.indexOf(numeral);
    else {
      total += (digit || 1) * scale;
      digit = 0;
    }
  }
  return { digits: String(total + digit), end };
}
