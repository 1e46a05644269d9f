import { describe, expect, it } from "vitest";
import { parseTranscript } from "../../src/ingest/transcript-read.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const utf16 = (text: string) => new Uint8Array(Buffer.from(text, "utf16le"));
const swapped = (little: Uint8Array) => new Uint8Array(Buffer.from(little).swap16());
const json = (value: unknown) => bytes(JSON.stringify(value));
const cue = (start: number, end: number, text: string) => ({ start, end, text });
const cuesOf = (file: Uint8Array | string) =>
  parseTranscript(typeof file === "string" ? bytes(file) : file).cues;

const HELLO = [cue(1, 2.5, "Hello\nthere"), cue(3, 4, "bye")];
const SRT =
  "1\n00:00:01,000 --> 00:00:02,500\nHello\nthere\n\n2\n00:00:03,000 --> 00:00:04,000\nbye\n";
const VTT = "WEBVTT\n\n00:01.000 --> 00:02.500\nHello\nthere\n\n00:03.000 --> 00:04.000\nbye\n";
const HEADED = `WEBVTT - a title
Kind: captions
Language: de-CH

STYLE
::cue(b) { color: red }

REGION
id:fred width:40%

NOTE
position: not a cue
NOTE nor is this

first
00:00:01.000 --> 00:00:02.500 align:start position:10%,line-left line:0 region:fred
<v Bob Smith><c.yellow.bg_blue>Hello</c>
  <00:00:02.000><i.foreign>there</i>

NOTE between

00:03.000 --> 00:04.000 size:50%
<lang en>bye</lang>
`;

const word = (text: string, start: number, end: number) => ({ word: text, start, end });
const WORDS = [word("hello", 1, 1.4), word("there", 2, 2.5), word("bye", 3.6, 4)];
const JOINED = [cue(1, 2.5, "hello there"), cue(3.6, 4, "bye")];

describe("a transcript is read from", () => {
  it.each<[string, Uint8Array | string]>([
    ["SRT", SRT],
    ["CRLF", SRT.replaceAll("\n", "\r\n")],
    ["CR", SRT.replaceAll("\n", "\r")],
    ["UTF-8 with a mark", `\uFEFF${SRT}`],
    ["UTF-16 with a mark", utf16(`\uFEFF${SRT}`)],
    ["UTF-16 without", utf16(SRT)],
    ["big-endian UTF-16 with a mark", swapped(utf16(`\uFEFF${SRT}`))],
    ["big-endian UTF-16 without", swapped(utf16(SRT))],
    ["DOS with its end mark", `${SRT}\u001A\0\0`],
    [
      "markup",
      SRT.replace("Hello", '<font color="#fff"><i>Hello</i>').replace("bye", "{\\an8}bye"),
    ],
    ["points for commas", SRT.replaceAll(",", ".")],
    ["short times", SRT.replaceAll("00:00:0", "0:0:").replaceAll("500", "5")],
    ["no hours", SRT.replaceAll("00:00:0", "00:0")],
    ["no spaces at the arrow", SRT.replaceAll(" --> ", "-->")],
    ["coordinates", SRT.replaceAll(/,(\d00)\n/g, ",$1 X1:40 X2:600 Y1:20 Y2:50\n")],
    ["no counters", SRT.replaceAll(/^\d\n/gm, "")],
    ["no blank lines", SRT.replaceAll("\n\n", "\n")],
    ["blank lines in a cue", SRT.replace("Hello\n", "Hello\n\n \n")],
    ["WebVTT", VTT],
    ["WebVTT with all that it can hold", HEADED],
    ["WebVTT without its head", VTT.replace("WEBVTT\n\n", "")],
    ["cues out of order", json(HELLO.toReversed())],
    ["our JSON", json(HELLO)],
    ["our own answer", json({ video_id: "vid_1", language: "en", source: "asr", cues: HELLO })],
    ["Whisper", json({ text: "…", segments: HELLO.map((one, id) => ({ id, ...one, words: [] })) })],
    [
      "Deepgram's utterances",
      json({
        results: {
          utterances: HELLO.map(({ text, ...times }) => ({
            ...times,
            transcript: text,
            words: [],
          })),
          channels: [{ alternatives: [{ words: WORDS }] }],
        },
      }),
    ],
    [
      "Deepgram's paragraphs",
      json({
        results: {
          channels: [
            {
              alternatives: [
                {
                  transcript: "…",
                  words: WORDS,
                  paragraphs: {
                    paragraphs: [{ sentences: HELLO, num_words: 3, start: 1, end: 4 }],
                  },
                },
                { transcript: "another reading" },
              ],
            },
          ],
        },
      }),
    ],
  ])("%s", (_, file) => {
    expect(cuesOf(file)).toEqual(HELLO);
  });

  it("Deepgram's words, of all channels", () => {
    const channel = (words: object[]) => ({ alternatives: [{ transcript: "", words }] });
    const heard = [channel(WORDS.slice(0, 2)), channel(WORDS.slice(2)), channel([])];
    expect(cuesOf(json({ results: { channels: heard } }))).toEqual(JOINED);
    const punctuated = [
      { ...word("a", 0, 1), punctuated_word: "A." },
      { ...word("b", 1, 2), punctuated_word: "B?" },
    ];
    expect(cuesOf(json({ results: { channels: [channel(punctuated)] } }))).toEqual([
      cue(0, 1, "A."),
      cue(1, 2, "B?"),
    ]);
  });

  it("Whisper's words, with the spaces that they bring", () => {
    expect(cuesOf(json({ task: "transcribe", words: WORDS }))).toEqual(JOINED);
    const tokens = [word(" Hel", 1, 1.2), word("lo", 1.2, 1.4), word(" there", 2, 2.5)];
    expect(cuesOf(json({ words: tokens }))).toEqual([cue(1, 2.5, "Hello there")]);
  });

  it("Windows-1252, which holds Latin-1", () => {
    const latin1 = Buffer.from(SRT.replace("bye", "caf\u00e9 \u0093now\u0094"), "latin1");
    expect(cuesOf(latin1)[1]!.text).toBe("café “now”");
  });

  it("plain text, sentence by sentence, without times", () => {
    const text = "[Music] Hello there.  How are you?\nA title\n\n我很好。你呢？\n";
    const cues = cuesOf(text);
    expect(cues.map((one) => one.text)).toEqual([
      "[Music] Hello there.",
      "How are you?",
      "A title",
      "我很好。",
      "你呢？",
    ]);
    expect(cues.every(({ start, end }) => Number.isNaN(start) && Number.isNaN(end))).toBe(true);
    const endless = cuesOf("and so on ".repeat(1000));
    expect(Math.max(...endless.map((one) => one.text.length))).toBeLessThanOrEqual(200);
    expect(endless.map((one) => one.text).join(" ")).toBe("and so on ".repeat(1000).trim());
    expect(cuesOf("\u6211".repeat(450)).map((one) => one.text.length)).toEqual([200, 200, 50]);
  });
});

describe("what is said", () => {
  it.each([
    ["WebVTT's entities", "AT&amp;T &lt;b&gt; &#233;&#x1F600;&nbsp;&amp;lt;", "AT&T <b> é😀 &lt;"],
    ["a reading beside the letters", "<ruby>漢字<rt>kanji</rt></ruby>です", "漢字です"],
    ["what looks like a setting", "position: absolute", "position: absolute"],
    ["an arrow", "a --> b", "a --> b"],
  ])("is kept: %s", (_, text, expected) => {
    expect(cuesOf(`WEBVTT\n\n00:00.000 --> 00:01.000\n${text}\n`)[0]!.text).toBe(expected);
  });

  it.each([
    "{\\alpha}",
    "C:\\New",
    "if a < b and c > d",
    "x <y> z",
    "AT&amp;T",
    "1984",
    "at 12:30 --> noon",
  ])("in SRT is kept: %s", (text) => {
    expect(cuesOf(SRT.replace("bye", text))[1]!.text).toBe(text);
    expect(cuesOf(SRT.replace("Hello\nthere", text))[0]!.text).toBe(text);
  });

  it("in JSON is no markup, but text all the same", () => {
    const text = "a\u0000b <i>\ud800\u2028 c ";
    expect(cuesOf(json([cue(0, 1, text)]))[0]!.text).toBe("a b <i>\ufffd\nc");
  });
});

describe("times", () => {
  it.each<[string, object[], object[]]>([
    ["overlap as they do", [cue(0, 5, "a"), cue(1, 3, "b")], [cue(0, 5, "a"), cue(1, 3, "b")]],
    ["may be one moment", [cue(2, 2, "a")], [cue(2, 2, "a")]],
    ["begin at the beginning", [cue(-1, 2, "a")], [cue(0, 2, "a")]],
    [
      "without an end last until the next begins",
      [cue(1, 0, "a"), { start: 1, text: "b" }, { start: 1.5, end: null, text: "c" }],
      [cue(1, 1.5, "a"), cue(1, 1.5, "b"), cue(1.5, 2.5, "c")],
    ],
    [
      "without an end last as long as reading takes",
      [{ start: 1, text: "x".repeat(45) }, cue(9, 10, "b")],
      [cue(1, 4, "x".repeat(45)), cue(9, 10, "b")],
    ],
  ])("%s", (_, given, expected) => {
    expect(cuesOf(json(given))).toEqual(expected);
  });

  it("may lack their end in SRT, be negative, or long", () => {
    const file =
      "-00:00:01,000 --> 00:00:02,000\na\n\n00:00:09,000 -->\nb\n\n100:00:00.1 --> 100:00:01\nc";
    expect(cuesOf(file)).toEqual([cue(0, 2, "a"), cue(9, 10, "b"), cue(360_000.1, 360_001, "c")]);
  });

  it("are asked of many cues without ends in no time", () => {
    const many = Array.from({ length: 100_000 }, () => ({ start: 1, text: "a" }));
    expect(cuesOf(json(many))).toHaveLength(100_000);
  });
});

it.each<[string, Uint8Array | string, string | null]>([
  ["a WebVTT header", HEADED, "de-CH"],
  ["none", VTT, null],
  ["Whisper", json({ language: "en", segments: HELLO }), "en"],
  ["what is no tag", json({ language: "english!", segments: HELLO }), null],
  [
    "what is longer than a tag",
    json({ language: `en${"-abcdefgh".repeat(9)}`, segments: HELLO }),
    null,
  ],
  [
    "Deepgram",
    json({
      results: { channels: [{ detected_language: "fr", alternatives: [{ words: WORDS }] }] },
    }),
    "fr",
  ],
])("the language is that of %s", (_, file, language) => {
  expect(parseTranscript(typeof file === "string" ? bytes(file) : file).language).toBe(language);
});

it.each<[string, Uint8Array | string]>([
  ["nothing", " \n"],
  ["what is not text", "PK\u0003\u0004\u0000\u0000 readme.txt"],
  ["broken JSON", '[{"start": 1'],
  ["other JSON", '{"a": 1}'],
  ["JSON without cues", '{"segments": []}'],
  ["times that can't be", json([cue(0, 1e300, "a")])],
  ["a WebVTT without cues", "WEBVTT\n\nNOTE nothing here\n"],
  ["cues without words", SRT.replaceAll(/^[a-zA-Z]+$/gm, "")],
  ["SSA", "[Script Info]\nTitle: x\n"],
  ["TTML", '<?xml version="1.0"?><tt/>'],
])("%s is refused", (_, file) => {
  expect(() => cuesOf(file)).toThrowError(
    expect.objectContaining({ code: "bad_request", message: expect.stringMatching(/\.$/) }),
  );
});
