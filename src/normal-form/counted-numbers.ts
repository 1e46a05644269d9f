/** A number in words before a counter, and where it ends in the text. */
interface CountedNumber {
  digits: string;
  end: number;
}

/** Reads a number in Korean or Thai words before a counter at an offset; null if there is none. */
export function readCount(text: string, at: number): CountedNumber | null {
  return readKoreanCount(text, at) ?? readThaiNumber(text, at);
}

/** Native numbers as they are before a counter, in order from 1. */
const COUNTED = "한 두 세 네 다섯 여섯 일곱 여덟 아홉 열 열한 열두".split(" ");
const KOREAN_COUNTERS = "시|개|명|마리|살|번|잔|병|권|대|장|사람|시간|달|송이|그루";
const COUNT = new RegExp(
  `(?<![가-힣])(${COUNTED.toReversed().join("|")})(?=\\s?(?:${KOREAN_COUNTERS}))`,
  "uy",
);

/** Reads a native Korean number before its counter at an offset: "세" of "세 시" is "3". */
function readKoreanCount(text: string, at: number): CountedNumber | null {
  COUNT.lastIndex = at;
  const [, word] = COUNT.exec(text) ?? [];
  if (word === undefined) return null;
  return { digits: String(COUNTED.indexOf(word) + 1), end: at + word.length };
}

const UNITS = "หนึ่ง สอง สาม สี่ ห้า หก เจ็ด แปด เก้า".split(" ");
const UNIT = UNITS.join("|");
/** Words behind a number, which show that letters that may be of another word are one. */
const COUNTERS = "คน|ตัว|บาท|วัน|ปี|เดือน|ชั่วโมง|นาที|โมง|คัน|เล่ม|ใบ|ครั้ง|กิโล|เมตร|ลูก|แก้ว|จาน|หลัง|ชั้น|ขวด";
const NUMBER = new RegExp(`(ยี่|${UNIT})?(สิบ)?(เอ็ด|${UNIT})?(?=${COUNTERS})`, "y");

/** Reads a Thai number below 100 in words before a counter: "ห้าคน" has "5". */
function readThaiNumber(text: string, at: number): CountedNumber | null {
  NUMBER.lastIndex = at;
  const [written = "", first = "", ten = "", last = ""] = NUMBER.exec(text) ?? [];
  if (written === "" || (ten === "" && last !== "")) return null;
  const digit = (word: string, other: string, value: number) =>
    word === other ? value : UNITS.indexOf(word) + 1;
  const value = ten === "" ? digit(first, "ยี่", 0) : 10 * (first === "" ? 1 : digit(first, "ยี่", 2));
  return { digits: String(value + digit(last, "เอ็ด", 1)), end: at + written.length };
}
