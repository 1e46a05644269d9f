import { describe, expect, it } from "vitest";
import { fitCues } from "../../../../src/ingest/transcript/cue-times.ts";
import { parseTranscript } from "../../../../src/ingest/transcript/parse.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const parse = (text: string, fileName?: string) =>
  parseTranscript(bytes(text), undefined, fileName);
const cuesOf = (text: string) =>
  parse(text).cues.map(({ start, end, text: own }) => [start, end, own]);
const textsOf = (text: string) => parse(text).cues.map(({ text: own }) => own);
const TIMES = "00:00:01.000 --> 00:00:02.000";
const cuesWith = (settings: string) =>
  `WEBVTT\n\n${TIMES}${settings}\nThe ferry leaves.\n\n0:03.000 --> 0:04.000\nGulls.\n`;
const refusal = (reason: string) =>
  expect.objectContaining({ code: "bad_request", message: expect.stringContaining(reason) });

describe("what stands behind the times of WebVTT is never text:", () => {
  it.each(
    ["align", "size", "line", "position", "vertical", "region"].flatMap((name) => [
      `${name}: center`,
      `${name}:`,
      `${name} : 42%`,
      `${name}:1%, center`,
      `${name}:end ${name}`,
      `: ${name}`,
      `${name}:${"9".repeat(400)}%`,
      `50% ${name}`,
    ]),
  )("%s", (settings) => {
    for (const blank of [" ", "\t", "  "])
      expect(cuesOf(cuesWith(blank + settings))).toEqual([
        [1, 2, "The ferry leaves."],
        [3, 4, "Gulls."],
      ]);
  });

  it("but behind those of SRT it is, also in a long line", () => {
    const text = "The ferry leaves. ".repeat(30).trim();
    expect(textsOf(`1\n00:00:01,000 --> 00:00:02,000 ${text}\n`)).toEqual([text]);
    expect(textsOf(`1\n00:00:01,000 --> 00:00:02,000 X1:1 X2:2 Y1:3 Y2:4\n${text}\n`)).toEqual([
      text,
    ]);
  });

  it("also without a blank before it", () => {
    expect(cuesOf(cuesWith("line:0"))[0]).toEqual([1, 2, "The ferry leaves."]);
  });
});

describe("nothing of a WebVTT file is lost to", () => {
  it.each<[string, string, unknown[]]>([
    ["a NUL, which is shown as �", `WEBVTT\n\n${TIMES}\na\0b\n`, [[1, 2, "a\uFFFDb"]]],
    ["a NUL in its header and ids", `WEBVTT \0\n\nid\0\n${TIMES}\na\n`, [[1, 2, "a"]]],
    ["blank lines behind the times", `WEBVTT\n\n${TIMES}\n\n\na\nb\n\n`, [[1, 2, "a\nb"]]],
    [
      "hours of four digits",
      "WEBVTT\n\n0010:00:30.940 --> 1000:00:40.750\na\n",
      [[36_030.94, 3_600_040.75, "a"]],
    ],
    [
      "a bad time beside a good one",
      `WEBVTT\n${TIMES}\na\n0a:03.000 --> 00:04.000\nb\n00:05.sss --> 00:06.000\nc\n`,
      [
        [1, 2, "a"],
        [2, 4, "b"],
        [4, 6, "c"],
      ],
    ],
  ])("%s", (_, text, cues) => {
    expect(cuesOf(text)).toEqual(cues);
  });

  it.each<[string, string]>([
    ["the id of the next cue", `WEBVTT\n\n${TIMES}\n\nsecond\n0:03.000 --> 0:04.000\nb\n`],
    ["a comment", `WEBVTT\n\n${TIMES}\n\nNOTE not said\n\n0:03.000 --> 0:04.000\nb\n`],
    ["a style", `WEBVTT\n\n${TIMES}\n\nSTYLE\n::cue {}\n\n0:03.000 --> 0:04.000\nb\n`],
  ])("an empty cue, whose text isn't %s", (_, text) => {
    expect(cuesOf(text)).toEqual([[3, 4, "b"]]);
  });
});

it("a control character hides no cue of SRT, but makes other bytes no text", () => {
  expect(textsOf("1\n00:00:01,000 --> 00:00:02,000\na\0b \x01c\n")).toEqual(["a\uFFFDb c"]);
  expect(() => parse("The ferry\0leaves.")).toThrowError(refusal("it is not text"));
});

describe("tags of SRT aren't text:", () => {
  it.each([
    ["the ferry <bold>leaves</bold>", "the ferry leaves"],
    ["<Underline>the ferry</Underline> <x-y>leaves</x-y>", "the ferry leaves"],
    ["<bold>the ferry", "the ferry"],
    [`<font face="${"a".repeat(2000)}">the ferry</font>`, "the ferry"],
    ["a <bold claim> and x <y> z", "a and x <y> z"],
    ["if a < b and c > d, see <chapter 2>", "if a < b and c > d, see <chapter 2>"],
  ])("%s", (text, expected) => {
    expect(textsOf(`1\n00:00:01,000 --> 00:00:02,000\n${text}\n`)).toEqual([expected]);
  });
});

describe("a file that isn't what its name says", () => {
  it.each(["film.vtt", "FILM.SRT", "film.sbv", "film.en.ass", "film.ttml", "film.stl"])(
    "is refused by its name: %s",
    (fileName) => {
      for (const text of ["1", " \nBROKENVTT\n", "The ferry leaves."])
        expect(() => parse(text, fileName)).toThrowError(refusal(`.${fileName.split(".").at(-1)}`));
    },
  );
  it("is plain text if that is its name, or it has none", () => {
    for (const fileName of ["notes.txt", "notes", "", undefined])
      expect(parse("The ferry leaves.", fileName).cues).toHaveLength(1);
  });
  it("is read if it is of another format with times", () => {
    expect(parse("[00:01.00]a\n[00:03.00]b\n", "film.srt").cues).toHaveLength(2);
  });
});

describe("a format that isn't read is refused by its name:", () => {
  const box = (type: string) => [0, 0, 0, 12, ...bytes(type), 0, 0, 0, 0];
  it.each<[string, (string | number)[]]>([
    ["VobSub", ["# VobSub index file, v7 (do not modify this line!)\nsize: 720x576\n"]],
    ["VobSub", [0, 0, 1, 0xba, 0x44, 0, 4, 0, "x"]],
    ["PGS", ["PG", 0, 0, 1, 2, 0, 0, 0, 0, 0x16, 0, 19]],
    ["tx3g", [0, 5, "ferry", ...box("styl")]],
    ["MP4", [0, 0, 0, 24, "ftypmp42", 0, 0, 0, 0]],
    ["ZIP", ["PK", 3, 4, 0, 0, "a.srt"]],
  ])("%s", (name, parts) => {
    const file = parts.flatMap((part) =>
      typeof part === "string" ? Array.from(bytes(part)) : [part],
    );
    expect(() => parseTranscript(Uint8Array.from(file))).toThrowError(refusal(name));
  });
});

it.each([
  [true, "\uFEFF"],
  [false, "\uFEFF"],
  [true, ""],
  [false, ""],
])("UTF-32 is refused by its name: little-endian %s, with the mark %j", (isLittle, mark) => {
  const codePoints = Array.from(`${mark}1\n00:00:01,000 --> 00:00:02,000\nFähre\n`);
  const view = new DataView(new ArrayBuffer(codePoints.length * 4));
  for (const [i, one] of codePoints.entries()) {
    view.setUint32(i * 4, one.codePointAt(0)!, isLittle);
  }
  expect(() => parseTranscript(new Uint8Array(view.buffer))).toThrowError(refusal("UTF-32"));
});

describe("JSON in milliseconds is told by its items:", () => {
  const items = [
    { start: 599, end: 4160, text: "The ferry leaves the old harbour." },
    { start: 4600, end: 6800, text: "Gulls follow." },
  ];
  const CUES = items.map(({ start, end, text }) => [start / 1000, end / 1000, text]);
  it.each<[string, unknown]>([
    ["a list", items],
    ["cues with durations", items.map((one) => ({ ...one, duration: one.end - one.start }))],
    ["durations alone", items.map(({ end, ...one }) => ({ ...one, duration: end - one.start }))],
    ["a record", { cues: items }],
  ])("%s", (_, value) => {
    expect(cuesOf(JSON.stringify(value))).toEqual(CUES);
  });

  it.each<[string, unknown[]]>([
    ["whole seconds of speech", [{ start: 0, end: 600, text: "word ".repeat(900) }]],
    ["a short word for a minute", [{ start: 0, end: 60, text: "walrus" }]],
    [
      "chapters",
      [
        { start: 0, end: 754, text: "Introduction" },
        { start: 754, end: 1520, text: "The ferry" },
      ],
    ],
    ["fractions", [{ start: 599.5, end: 4160, text: "a" }]],
  ])("%s are seconds", (_, value) => {
    const starts = parse(JSON.stringify(value)).cues.map(({ start }) => start);
    expect(starts).toEqual(value.map((one) => (one as { start: number }).start));
  });

  it("or by the length of the film, where the items leave it open", () => {
    const cues = [
      { start: 0, end: 2000, text: "The ferry leaves." },
      { start: 2000, end: 4000, text: "Gulls follow." },
    ];
    const { cues: fitted, warnings } = fitCues(cues, 30);
    expect(fitted.map(({ start, end }) => [start, end])).toEqual([
      [0, 2],
      [2, 4],
    ]);
    expect(warnings.map(({ code }) => code)).toEqual(["transcript_shifted"]);
    expect(fitCues(cues, 4000).cues).toBe(cues);
    const speech = [{ start: 40, end: 43, text: "The ferry leaves." }];
    expect(fitCues(speech, 30).warnings.map(({ code }) => code)).toEqual(["transcript_past_end"]);
  });
});

describe("TTML", () => {
  const doc = (body: string) => `<tt xmlns="http://www.w3.org/ns/ttml"><body>${body}</body></tt>`;
  it.each<[string, string, unknown[]]>([
    [
      "has absolute times in a timed div if its children would end after it",
      '<div begin="19.5" end="59.3"><p begin="19.5" end="21.9">a</p><p begin="0:24.594" end="0:26.898">b</p></div>' +
        '<div begin="1:00.998" end="1:19.943"><p begin="1:00.998" end="1:02.794">c</p></div>',
      [
        [19.5, 21.9, "a"],
        [24.594, 26.898, "b"],
        [60.998, 62.794, "c"],
      ],
    ],
    [
      "has absolute times also in a p that begins where its div ends",
      '<div begin="1.4s" end="2.4s"><p>a</p><p begin="2.4s" end="5.4s">b</p></div>',
      [
        [1.4, 2.4, "a"],
        [2.4, 5.4, "b"],
      ],
    ],
    [
      "has relative times where they fit",
      '<div begin="10s" end="30s"><p begin="1s" end="3s">a</p><p begin="12s" end="14s">b</p></div>',
      [
        [11, 13, "a"],
        [22, 24, "b"],
      ],
    ],
    [
      "has one cue of the words of a timed line",
      '<p begin="10s" end="12s"><span begin="10s" end="11s">be</span><span begin="11s" end="12s">fore</span> dawn</p>',
      [[10, 12, "before dawn"]],
    ],
    [
      "has a cue of each timed span of a p without times",
      '<p><span begin="1s" end="2s">a</span><span begin="3s" end="4s">b</span></p>',
      [
        [1, 2, "a"],
        [3, 4, "b"],
      ],
    ],
    [
      "has its text behind a long tag",
      `<p begin="1s" end="2s" style="${"x ".repeat(9000)}">a</p>`,
      [[1, 2, "a"]],
    ],
  ])("%s", (_, body, cues) => {
    expect(cuesOf(doc(body))).toEqual(cues);
  });
});

describe("SCC that is painted on", () => {
  const scc = (...lines: [string, string][]) =>
    `Scenarist_SCC V1.0\n\n${lines.map((line) => line.join("\t")).join("\n\n")}\n`;
  const texts = (text: string) => textsOf(text);
  it("has a cue from one resumption to the next", () => {
    const text = scc(
      ["00:00:01:00", "9429 9429 94d2 94d2 4162"],
      ["00:00:03:00", "9429 9429 94d2 94d2 4364"],
      ["00:00:05:00", "942c 942c"],
    );
    expect(texts(text)).toEqual(["Ab", "Cd"]);
    const [first, second] = parse(text).cues;
    expect(first!.end).toBeCloseTo(3, 1);
    expect(second!.end).toBeCloseTo(5, 1);
  });
  it("has a cue until a row is addressed again", () => {
    const text = scc(
      ["00:00:01:00", "9429 9429 94d2 94d2 4162 94f2 94f2 4344"],
      ["00:00:03:00", "94d2 94d2 4546"],
    );
    expect(texts(text)).toEqual(["Ab\nCD", "EF"]);
  });
});

/** A block of text of EBU STL. */
interface StlBlock {
  number?: number;
  extension?: number;
  from: number[];
  to: number[];
  isComment?: boolean;
  text: (string | number)[];
}

function stl(blocks: StlBlock[], fields: Record<number, string> = {}): Uint8Array {
  const file = new Uint8Array(1024 + 128 * blocks.length).fill(0x20);
  const header = { 0: "850", 3: "STL25.01", 11: "1", 12: "00", 14: "09", 256: "10000000" };
  for (const [at, text] of Object.entries({ ...header, ...fields }))
    file.set(bytes(text), Number(at));
  for (const [i, block] of blocks.entries()) {
    const { number = i, extension = 0xff, from, to, isComment = false, text } = block;
    const content = text.flatMap((part) =>
      typeof part === "string" ? Array.from(bytes(part)) : [part],
    );
    const head = [
      0,
      number & 255,
      number >> 8,
      extension,
      0,
      ...from,
      ...to,
      20,
      2,
      Number(isComment),
    ];
    file.fill(0x8f, 1024 + 128 * i, 1024 + 128 * (i + 1));
    file.set([...head, ...content], 1024 + 128 * i);
  }
  return file;
}

describe("EBU STL", () => {
  const [FROM, TO] = [
    [10, 0, 1, 5],
    [10, 0, 2, 10],
  ];
  const one = (text: (string | number)[], fields?: Record<number, string>) =>
    parseTranscript(stl([{ from: FROM, to: TO, text }], fields));

  it.each<[string, Record<number, string>, number[]]>([
    ["25 frames a second, from the start of the programme", {}, [1.2, 2.4]],
    ["30 frames a second", { 3: "STL30.01" }, [1.167, 2.333]],
    ["a start before the programme's: it isn't used", { 256: "11000000" }, [36_001.2, 36_002.4]],
    ["no start of the programme", { 256: "        " }, [36_001.2, 36_002.4]],
  ])("has times in %s", (_, fields, times) => {
    const { cues } = one(["The ferry"], fields);
    expect(cues).toEqual([{ start: times[0], end: times[1], text: "The ferry" }]);
  });

  it.each<[string, string, (string | number)[], string]>([
    [
      "lines and teletext codes",
      "00",
      [13, 11, 11, "The", 0x8a, 0x8a, 7, "ferry", 10, 10],
      "The\nferry",
    ],
    ["italics inside a word", "00", ["fer", 0x80, "ry", 0x81], "ferry"],
    [
      "accents before their letters",
      "00",
      [0xc2, "Etude ", 0xc8, "uber ", 0xcf, "c ", 0xcb, "c"],
      "Étude über č ç",
    ],
    ["letters of their own", "00", [0xf1, 0xfb, 0xe8, 0xf9, 0xa9, 0xb9, 0xd5], "æßŁø‘’♪"],
    ["Cyrillic", "01", [0xbf, 0xd0, 0xe0, 0xde, 0xdc], "Паром"],
    ["Arabic", "02", [0xd9, 0xc8, 0xc7, 0xd1, 0xc9], "عبارة"],
    ["Greek", "03", [0xd0, 0xeb, 0xef, 0xdf, 0xef], "Πλοίο"],
    ["Hebrew", "04", [0xee, 0xf2, 0xe1, 0xe5, 0xf8, 0xfa], "מעבורת"],
  ])("has %s", (_, table, text, expected) => {
    expect(one(text, { 12: table }).cues[0]!.text).toBe(expected);
  });

  it("has no speech before the start of the programme", () => {
    const [before, after] = [
      [0, 0, 0, 0],
      [0, 0, 2, 0],
    ];
    const blocks = [
      { from: before, to: after, text: ["A title"] },
      { from: FROM, to: TO, text: ["The ferry"] },
    ];
    expect(parseTranscript(stl(blocks)).cues.map(({ text }) => text)).toEqual(["The ferry"]);
  });

  it("joins extension blocks, and leaves out comments and user data", () => {
    const times = { from: FROM, to: TO };
    const { cues } = parseTranscript(
      stl([
        { ...times, number: 1, isComment: true, text: ["not said"] },
        { ...times, number: 2, extension: 0, text: ["The fe", 0xc8] },
        { ...times, number: 2, extension: 0xfe, text: ["not said"] },
        { ...times, number: 2, extension: 0xff, text: ["urry"] },
        { ...times, number: 3, extension: 0, text: ["Gulls."] },
        { ...times, number: 4, text: ["Waves."] },
      ]),
    );
    expect(cues.map(({ text }) => text)).toEqual(["The feürry", "Gulls.", "Waves."]);
  });
});
