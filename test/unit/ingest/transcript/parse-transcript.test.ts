import { describe, expect, it } from "vitest";
import { parseTranscript } from "../../../../src/ingest/transcript/parse.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const utf16 = (text: string) => new Uint8Array(Buffer.from(text, "utf16le"));
const swapBytes = (little: Uint8Array) => new Uint8Array(Buffer.from(little).swap16());
const json = (value: unknown) => bytes(JSON.stringify(value));
const cue = (start: number, end: number, text: string) => ({ start, end, text });
const cuesOf = (file: Uint8Array | string) =>
  parseTranscript(typeof file === "string" ? bytes(file) : file).cues;

const HELLO = [cue(1, 2.5, "Hello\nthere"), cue(3, 4, "bye")];
const SRT =
  "1\n00:00:01,000 --> 00:00:02,500\nHello\nthere\n\n2\n00:00:03,000 --> 00:00:04,000\nbye\n";
const VTT = "WEBVTT\n\n00:01.000 --> 00:02.500\nHello\nthere\n\n00:03.000 --> 00:04.000\nbye\n";
const FULL_VTT = `WEBVTT - a title
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
const WORD_CUES = [cue(1, 2.5, "hello there"), cue(3.6, 4, "bye")];

describe("a transcript is parsed from", () => {
  it.each<[string, Uint8Array | string]>([
    ["SRT", SRT],
    ["SRT with CRLF", SRT.replaceAll("\n", "\r\n")],
    ["SRT with CR", SRT.replaceAll("\n", "\r")],
    ["UTF-8 with a byte-order mark", `\uFEFF${SRT}`],
    ["UTF-16 with a byte-order mark", utf16(`\uFEFF${SRT}`)],
    ["UTF-16 without a byte-order mark", utf16(SRT)],
    ["big-endian UTF-16 with a byte-order mark", swapBytes(utf16(`\uFEFF${SRT}`))],
    ["big-endian UTF-16 without a byte-order mark", swapBytes(utf16(SRT))],
    ["SRT with the end mark of DOS", `${SRT}\u001A\0\0`],
    [
      "SRT with markup",
      SRT.replace("Hello", '<font color="#fff"><i>Hello</i>').replace("bye", "{\\an8}bye"),
    ],
    ["SRT with points for commas", SRT.replaceAll(",", ".")],
    ["SRT with short times", SRT.replaceAll("00:00:0", "0:0:").replaceAll("500", "5")],
    ["SRT without hours", SRT.replaceAll("00:00:0", "00:0")],
    ["SRT without spaces around the arrow", SRT.replaceAll(" --> ", "-->")],
    ["SRT with coordinates", SRT.replaceAll(/,(\d00)\n/g, ",$1 X1:40 X2:600 Y1:20 Y2:50\n")],
    ["SRT without counters", SRT.replaceAll(/^\d\n/gm, "")],
    ["SRT without blank lines", SRT.replaceAll("\n\n", "\n")],
    ["SRT with blank lines in a cue", SRT.replace("Hello\n", "Hello\n\n \n")],
    ["WebVTT", VTT],
    ["WebVTT with regions, styles, notes and tags", FULL_VTT],
    ["WebVTT without its header", VTT.replace("WEBVTT\n\n", "")],
    ["JSON with cues out of order", json(HELLO.toReversed())],
    ["our JSON", json(HELLO)],
    [
      "a response of our own API",
      json({ video_id: "vid_1", language: "en", source: "asr", cues: HELLO }),
    ],
    [
      "Whisper's segments",
      json({ text: "…", segments: HELLO.map((segment, id) => ({ id, ...segment, words: [] })) }),
    ],
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
                { transcript: "another alternative" },
              ],
            },
          ],
        },
      }),
    ],
  ])("%s", (_, file) => {
    expect(cuesOf(file)).toEqual(HELLO);
  });

  it("Deepgram's words of all channels", () => {
    const channel = (words: object[]) => ({ alternatives: [{ transcript: "", words }] });
    const channels = [channel(WORDS.slice(0, 2)), channel(WORDS.slice(2)), channel([])];
    expect(cuesOf(json({ results: { channels } }))).toEqual(WORD_CUES);
    const punctuated = [
      { ...word("a", 0, 1), punctuated_word: "A." },
      { ...word("b", 1, 2), punctuated_word: "B?" },
    ];
    expect(cuesOf(json({ results: { channels: [channel(punctuated)] } }))).toEqual([
      cue(0, 1, "A."),
      cue(1, 2, "B?"),
    ]);
  });

  it("Whisper's words, with their own spaces", () => {
    expect(cuesOf(json({ task: "transcribe", words: WORDS }))).toEqual(WORD_CUES);
    const tokens = [word(" Hel", 1, 1.2), word("lo", 1.2, 1.4), word(" there", 2, 2.5)];
    expect(cuesOf(json({ words: tokens }))).toEqual([cue(1, 2.5, "Hello there")]);
  });

  it("Windows-1252, a superset of Latin-1", () => {
    const latin1 = Buffer.from(SRT.replace("bye", "caf\u00e9 \u0093now\u0094"), "latin1");
    expect(cuesOf(latin1)[1]!.text).toBe("café “now”");
  });

  it("plain text, sentence by sentence, without times", () => {
    const text = "[Music] Hello there.  How are you?\nA title\n\n我很好。你呢？\n";
    const cues = cuesOf(text);
    expect(cues.map(({ text: cueText }) => cueText)).toEqual([
      "[Music] Hello there.",
      "How are you?",
      "A title",
      "我很好。",
      "你呢？",
    ]);
    expect(cues.every(({ start, end }) => Number.isNaN(start) && Number.isNaN(end))).toBe(true);
    const endless = cuesOf("and so on ".repeat(1000));
    expect(Math.max(...endless.map(({ text: cueText }) => cueText.length))).toBeLessThanOrEqual(
      200,
    );
    expect(endless.map(({ text: cueText }) => cueText).join(" ")).toBe(
      "and so on ".repeat(1000).trim(),
    );
    expect(cuesOf("\u6211".repeat(450)).map(({ text: cueText }) => cueText.length)).toEqual([
      200, 200, 50,
    ]);
  });
});

describe("the text of a cue", () => {
  it.each([
    ["WebVTT's entities", "AT&amp;T &lt;b&gt; &#233;&#x1F600;&nbsp;&amp;lt;", "AT&T <b> é😀 &lt;"],
    ["ruby without its annotation", "<ruby>漢字<rt>kanji</rt></ruby>です", "漢字です"],
    ["a line like a cue setting", "position: absolute", "position: absolute"],
    ["an arrow", "a --> b", "a --> b"],
  ])("preserves %s", (_, text, expected) => {
    expect(cuesOf(`WEBVTT\n\n00:00.000 --> 00:01.000\n${text}\n`)[0]!.text).toBe(expected);
  });

  it.each([
    "{\\alpha}",
    "C:\\New",
    "if a < b and c > d",
    "x <y> z",
    "AT&T",
    "1984",
    "at 12:30 --> noon",
  ])("in SRT preserves %s", (text) => {
    expect(cuesOf(SRT.replace("bye", text))[1]!.text).toBe(text);
    expect(cuesOf(SRT.replace("Hello\nthere", text))[0]!.text).toBe(text);
  });

  it("in JSON keeps tags and drops control characters", () => {
    const text = "a\u0000b <i>\ud800\u2028 c ";
    expect(cuesOf(json([cue(0, 1, text)]))[0]!.text).toBe("a b <i>\ufffd\nc");
  });
});

describe("cue times", () => {
  it.each<[string, object[], object[]]>([
    ["may overlap", [cue(0, 5, "a"), cue(1, 3, "b")], [cue(0, 5, "a"), cue(1, 3, "b")]],
    ["may have the same start and end", [cue(2, 2, "a")], [cue(2, 2, "a")]],
    ["begin at 0 or later", [cue(-1, 2, "a")], [cue(0, 2, "a")]],
    [
      "without an end last until the next cue starts",
      [cue(1, 0, "a"), { start: 1, text: "b" }, { start: 1.5, end: null, text: "c" }],
      [cue(1, 1.5, "a"), cue(1, 1.5, "b"), cue(1.5, 2.5, "c")],
    ],
    [
      "without an end last no longer than the text takes to read",
      [{ start: 1, text: "x".repeat(45) }, cue(9, 10, "b")],
      [cue(1, 4, "x".repeat(45)), cue(9, 10, "b")],
    ],
  ])("%s", (_, given, expected) => {
    expect(cuesOf(json(given))).toEqual(expected);
  });

  it("in SRT may lack an end, be negative or exceed 99 hours", () => {
    const file =
      "-00:00:01,000 --> 00:00:02,000\na\n\n00:00:09,000 -->\nb\n\n100:00:00.1 --> 100:00:01\nc";
    expect(cuesOf(file)).toEqual([cue(0, 2, "a"), cue(9, 10, "b"), cue(360_000.1, 360_001, "c")]);
  });

  it("of 100,000 cues without ends are set in linear time", () => {
    const many = Array.from({ length: 100_000 }, () => ({ start: 1, text: "a" }));
    expect(cuesOf(json(many))).toHaveLength(100_000);
  });
});

it.each<[string, Uint8Array | string, string | null]>([
  ["a WebVTT header", FULL_VTT, "de-CH"],
  ["a WebVTT file without one, null", VTT, null],
  ["Whisper's JSON", json({ language: "en", segments: HELLO }), "en"],
  ["the name of a language, null", json({ language: "english", segments: HELLO }), null],
  ["a malformed tag, null", json({ language: "en-ab-cd", segments: HELLO }), null],
  ["a name that isn't a BCP 47 tag, null", json({ language: "english!", segments: HELLO }), null],
  [
    "a tag that is too long, null",
    json({ language: `en${"-abcdefgh".repeat(9)}`, segments: HELLO }),
    null,
  ],
  [
    "Deepgram's JSON",
    json({
      results: { channels: [{ detected_language: "fr", alternatives: [{ words: WORDS }] }] },
    }),
    "fr",
  ],
])("the language of a transcript is that of %s", (_, file, language) => {
  expect(parseTranscript(typeof file === "string" ? bytes(file) : file).language).toBe(language);
});

it.each<[string, Uint8Array | string]>([
  ["an empty file", " \n"],
  ["a binary file", "PK\u0003\u0004\u0000\u0000 readme.txt"],
  ["broken JSON", '[{"start": 1'],
  ["other JSON", '{"a": 1}'],
  ["JSON without cues", '{"segments": []}'],
  ["JSON with impossible times", json([cue(0, 1e300, "a")])],
  ["WebVTT without cues", "WEBVTT\n\nNOTE nothing here\n"],
  ["SRT without text", SRT.replaceAll(/^[a-zA-Z]+$/gm, "")],
  ["SSA without dialogue", "[Script Info]\nTitle: x\n"],
  ["TTML without text", '<?xml version="1.0"?><tt/>'],
  ["XML that isn't TTML", '<?xml version="1.0"?><transcript><text start="1">a</text></transcript>'],
  ["SAMI", "<SAMI><BODY><SYNC Start=500><P>The ferry.</BODY></SAMI>"],
  ["RTF", "{\\rtf1 The ferry leaves.}"],
  ["Spruce STL", "$Bold = FALSE\n00:00:01:00 , 00:00:02:00 , The ferry\n"],
  ["QuickTime text", "{QTtext} {size:20}\n{timeScale:30}\n[00:00:01.00]\na\n[00:00:02.15]\nb\n"],
  ["JSON with ends of another name", '[{"start": 0, "stop": 870, "text": "a"}]'],
  ["JSON without any start", '[{"start": null, "end": null, "text": "a"}]'],
])("parsing %s throws bad_request", (_, file) => {
  expect(() => cuesOf(file)).toThrowError(
    expect.objectContaining({ code: "bad_request", message: expect.stringMatching(/\.$/) }),
  );
});
