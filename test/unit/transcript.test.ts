import { describe, expect, it } from "vitest";
import { parseTranscript, spreadCues, wordsBetween } from "../../src/ingest/transcript.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const utf16 = (text: string) => Uint8Array.from([0xff, 0xfe, ...Buffer.from(text, "utf16le")]);
const HELLO = [
  { start: 1, end: 2.5, text: "Hello there" },
  { start: 3, end: 4, text: "bye" },
];
const SRT =
  "1\n00:00:01,000 --> 00:00:02,500\nHello\nthere\n\n2\n00:00:03,000 --> 00:00:04,000\nbye\n";

describe("a transcript", () => {
  it.each<[string, Uint8Array]>([
    ["SRT", bytes(SRT)],
    ["SRT with CRLF", bytes(SRT.replaceAll("\n", "\r\n"))],
    ["SRT with a byte-order mark", bytes(`\uFEFF${SRT}`)],
    ["SRT in UTF-16", utf16(SRT)],
    ["SRT with markup", bytes(SRT.replace("Hello", "<i>Hello</i>").replace("bye", "{\\an8}bye"))],
    [
      "WebVTT",
      bytes(
        "WEBVTT\n\nNOTE x\n\nSTYLE\n::cue{}\n\n00:01.000 --> 00:02.500 align:start\n<v Bob>Hello <b>there</b>\n\n00:03.000 --> 00:04.000\nbye\n",
      ),
    ],
    ["cues out of order", bytes(JSON.stringify(HELLO.toReversed()))],
    ["our JSON", bytes(JSON.stringify(HELLO))],
    ["Whisper's JSON", bytes(JSON.stringify({ text: "…", segments: HELLO }))],
  ])("is read from %s", async (_, file) => {
    expect(await parseTranscript(file)).toEqual(HELLO);
  });

  it("is read from Latin-1", async () => {
    const latin1 = Buffer.from(SRT.replace("bye", "caf\u00e9"), "latin1");
    expect((await parseTranscript(latin1))[1]!.text).toBe("café");
  });

  it("is read from plain text, spread over the video by length", async () => {
    const cues = spreadCues(await parseTranscript(bytes("aaaa\n\nbb\n\ncc")), 80);
    expect(cues).toEqual([
      { start: 0, end: 40, text: "aaaa" },
      { start: 40, end: 60, text: "bb" },
      { start: 60, end: 80, text: "cc" },
    ]);
  });

  it.each<[string, string]>([
    ["nothing", " \n"],
    ["what is not text", "PK\u0003\u0004\u0000\u0000 readme.txt"],
    ["broken JSON", '[{"start": 1'],
    ["other JSON", '{"a": 1}'],
    ["a WebVTT without cues", "WEBVTT\n\nNOTE nothing here\n"],
  ])("is refused for %s", async (_, text) => {
    await expect(parseTranscript(bytes(text))).rejects.toMatchObject({ code: "bad_request" });
  });
});

it("gives a cue to the stretch that holds its middle", () => {
  expect(wordsBetween(HELLO, 0, 2)).toBe("Hello there");
  expect(wordsBetween(HELLO, 2, 4)).toBe("bye");
  expect(wordsBetween([], 0, 4)).toBe("");
});
