const UNITS = "หนึ่ง สอง สาม สี่ ห้า หก เจ็ด แปด เก้า".split(" ");
const UNIT = UNITS.join("|");
/** Words behind a number, which show that letters that may be of another word are one. */
const COUNTERS = "คน|ตัว|บาท|วัน|ปี|เดือน|ชั่วโมง|นาที|โมง|คัน|เล่ม|ใบ|ครั้ง|กิโล|เมตร|ลูก|แก้ว|จาน|หลัง|ชั้น|ขวด";
const NUMBER = new RegExp(`(ยี่|${UNIT})?(สิบ)?(เอ็ด|${UNIT})?(?=${COUNTERS})`, "y");

/** Reads a Thai number below 100 in words before a counter: "ห้าคน" has "5". */
export function readThaiNumber(text: string, at: number): { digits: string; end: number } | null {
  NUMBER.lastIndex = at;
  const [written = "", first = "", ten = "", last = ""] = NUMBER.exec(text) ?? [];
  if (written === "" || (ten === "" && last !== "")) return null;
  const digit = (word: string, other: string, value: number) =>
    word === other ? value : UNITS.indexOf(word) + 1;
  const value = ten === "" ? digit(first, "ยี่", 0) : 10 * (first === "" ? 1 : digit(first, "ยี่", 2));
  return { digits: String(value + digit(last, "เอ็ด", 1)), end: at + written.length };
}
