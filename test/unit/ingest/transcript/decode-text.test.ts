import { describe, expect, it } from "vitest";
import { decodeText, detectEncoding } from "../../../../src/ingest/transcript/decode-text.ts";

/** Makes an encoder of a single-byte or double-byte encoding from its decoder. */
function encoderOf(label: string): (text: string) => Uint8Array {
  const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: false });
  const codes = new Map<string, number[]>();
  const add = (bytes: number[]) => {
    try {
      const character = decoder.decode(Uint8Array.from(bytes));
      if (Array.from(character).length === 1 && !codes.has(character)) codes.set(character, bytes);
    } catch {
      return; // not a character
    }
  };
  for (let a = 0; a < 256; a++) add([a]);
  if (/gb|big5|euc|jis/.test(label)) {
    for (let a = 0x81; a < 0xff; a++) for (let b = 0x40; b < 0xff; b++) add([a, b]);
  }
  return (text) => Uint8Array.from(Array.from(text).flatMap((character) => codes.get(character)!));
}

const TEXTS: readonly [label: string, text: string][] = [
  ["windows-1252", "L’été dernier, la forêt était brûlée. Où est le café ?"],
  ["windows-1252", "Über die Straße fährt ein großer Bär. Schöne Grüße!"],
  ["windows-1252", "El niño comió piñata en la mañana. ¿Dónde está el señor?"],
  ["windows-1252", "Þetta er íslenska og það er gott að læra hana."],
  ["windows-1252", "café"],
  ["windows-1250", "Zażółć gęślą jaźń. Świeci słońce nad Łodzią."],
  ["windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy."],
  ["windows-1250", "Árvíztűrő tükörfúrógép. A hajó hajnalban indul."],
  ["windows-1251", "Паром уходит на рассвете. Чайки летят за ним."],
  ["windows-1251", "Пором відходить на світанку. Чайки летять за ним."],
  ["windows-1251", "паром уходит на рассвете"],
  ["windows-1253", "Το πλοίο φεύγει την αυγή. Οι γλάροι το ακολουθούν."],
  ["windows-1254", "Feribot şafakta kalkıyor. Martılar onu izliyor, güneş doğuyor."],
  ["windows-1255", "המעבורת יוצאת עם שחר. השחפים עוקבים אחריה."],
  ["windows-1256", "تغادر العبارة عند الفجر. تتبعها النوارس."],
  ["koi8-r", "Паром уходит на рассвете. Чайки летят за ним."],
  ["gb18030", "渡轮在黎明时离开。海鸥跟着它飞走了。"],
  ["big5", "渡輪在黎明時離開。海鷗跟著它飛走了。"],
  ["shift_jis", "フェリーは夜明けに出ます。カモメが後を追います。"],
  ["euc-jp", "フェリーは夜明けに出ます。東京タワーの近くで桜を見た。"],
  ["euc-kr", "페리는 새벽에 떠납니다. 갈매기가 따라갑니다."],
];

describe("the encoding of a text is detected", () => {
  it.each(TEXTS)("%s: %s", (label, text) => {
    const bytes = encoderOf(label)(text);
    expect(decodeText(bytes)).toMatchObject({ text, badLine: null });
    const srt = encoderOf(label)(`1\n00:00:01,000 --> 00:00:02,000\n${text}\n\n2\n`);
    expect(decodeText(srt).text).toContain(text);
  });

  it.each<[string, string]>([
    ["Latin letters", "The ferry"],
    ["Cyrillic letters", "1\n00:00:01,000 --> 00:00:02,000\nПаром уходит на рассвете.\n"],
    ["Han characters", "1\n00:00:01,000 --> 00:00:02,000\n渡轮在黎明时离开。\n"],
  ])("UTF-16 of either order, with and without a mark: %s", (_, text) => {
    const little = new Uint8Array(Buffer.from(text, "utf16le"));
    const marked = new Uint8Array(Buffer.from(`\uFEFF${text}`, "utf16le"));
    const big = (bytes: Uint8Array) => new Uint8Array(Buffer.from(bytes).swap16());
    for (const bytes of [little, marked, big(little), big(marked)]) {
      expect(decodeText(bytes).text).toBe(text);
    }
  });
});

describe("UTF-8 with a bad byte", () => {
  it("keeps its accents, and names the line", () => {
    const good = new TextEncoder().encode("L’été, la forêt\nbrûlée ");
    const bytes = Uint8Array.from([...good, 0xe9, 0x0a, ...good]);
    expect(decodeText(bytes)).toEqual({
      text: "L’été, la forêt\nbrûlée \uFFFD\nL’été, la forêt\nbrûlée ",
      encoding: "utf-8",
      badLine: 2,
    });
  });

  it("that cuts off a character is UTF-8, too", () => {
    expect(detectEncoding(new TextEncoder().encode("forêt été").subarray(0, -1))).toBe("utf-8");
  });

  it("isn't seen in a replacement character that was written", () => {
    expect(decodeText(new TextEncoder().encode("a\uFFFDb")).badLine).toBeNull();
  });
});

it("an encoding that is asked for overrides the detection", () => {
  const bytes = encoderOf("windows-1251")("Паром");
  expect(decodeText(bytes, "koi8-r").text).not.toBe("Паром");
  expect(decodeText(bytes, "cp1251").text).toBe("Паром");
  expect(() => decodeText(bytes, "klingon")).toThrow(RangeError);
});
