import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { selectMedia } from "../../../../client/src/cli/media-files.ts";
import { findMedia } from "../../../../tools/media-files.ts";

/** The beginning of an MP4 file. */
const MP4 = Buffer.from("000000186674797069736f6d0000020069736f6d69736f32", "hex");
const SRT = "1\n00:00:00,000 --> 00:00:01,500\nA heron lands.\n";
const NFC = "Zo\u00eb";
const NFD = "Zoe\u0308";
const HANGUL = "\ud55c\uae00";

type Files = Record<string, string | Buffer>;

/** Writes files to a folder of their own, films where they have no text, and returns its path. */
async function writeFolder(files: Files | string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sidecars-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const texts = Array.isArray(files) ? {} : files;
  for (const name of Array.isArray(files) ? files : Object.keys(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    const isMedia = /\.(?:mp4|mkv)$/.test(name);
    await writeFile(join(folder, name), texts[name] ?? (isMedia ? MP4 : SRT));
  }
  return folder;
}

/** Returns films with their transcripts, and reasons of what is skipped, by name. */
async function select(folder: string, followsLinks = false) {
  const { files, refused, skipped } = await selectMedia([folder], followsLinks);
  const { media } = await findMedia([folder], followsLinks);
  const named = (path: string) => relative(folder, path);
  const pairs = (list: { path: string; transcript?: string }[]) =>
    Object.fromEntries(
      list.map(({ path, transcript }) => [named(path), transcript && named(transcript)]),
    );
  expect(pairs(media)).toEqual(pairs(files)); // the demo takes the same
  return {
    films: pairs(files),
    refused: Object.fromEntries(refused.map(({ path, reason }) => [named(path), reason])),
    skipped: skipped.map(named),
  };
}

describe("the transcript beside a video", () => {
  it.each<[name: string, film: string, transcript: string]>([
    ["has its name", "clip.mp4", "clip.SRT"],
    ["has its name with the extension", "film.mp4", "film.mp4.srt"],
    ["has a language", "clip.mp4", "clip.en.srt"],
    ["has a language with a region", "clip.mp4", "clip.pt-BR.vtt"],
    ["has a language as some write it", "clip.mp4", "clip.pt_BR.srt"],
    ["has a language of three letters", "clip.mp4", "clip.ger.srt"],
    ["has the original language", "clip.mp4", "clip.en-orig.vtt"],
    ["is for the deaf", "clip.mp4", "clip.en.sdh.srt"],
    ["has extension and language", "clip.mp4", "clip.mp4.de.srt"],
    ["is in NFD", `${NFC}.mp4`, `${NFD}.srt`],
    ["is in NFC", `${NFD}.mp4`, `${NFC}.en.srt`],
    ["is Hangul in NFD", `${HANGUL}.mp4`, `${HANGUL.normalize("NFD")}.srt`],
    ["is below a folder with dots", "a.b/c.d.mp4", "a.b/c.d.en.srt"],
  ])("that %s goes with it", async (_, film, transcript) => {
    expect(await select(await writeFolder([film, transcript]))).toEqual({
      films: { [film]: transcript },
      refused: {},
      skipped: [],
    });
  });

  it.each([
    "clip2.srt",
    "clip.part2.srt",
    "clip.en.forced.srt",
    "clip.live_chat.json",
    "._clip.srt",
  ])("is not %s", async (name) => {
    const { films } = await select(await writeFolder(["clip.mp4", name]));
    expect(films).toEqual({ "clip.mp4": undefined });
  });

  it("belongs to the video with the longest name", async () => {
    const names = ["clip.mp4", "clip.en.mp4", "clip.en.srt", "clip.mkv", "clip.mkv.srt"];
    expect((await select(await writeFolder(names))).films).toEqual({
      "clip.en.mp4": "clip.en.srt",
      "clip.mkv": "clip.mkv.srt",
      "clip.mp4": undefined,
    });
  });

  it("in the same normal form comes first, if there are videos in both", async () => {
    const names = [NFC, NFD].flatMap((name) => [`${name}.mp4`, `${name}.srt`]);
    expect((await select(await writeFolder(names))).films).toEqual({
      [`${NFC}.mp4`]: `${NFC}.srt`,
      [`${NFD}.mp4`]: `${NFD}.srt`,
    });
  });

  it.each([
    ["without a language", ["clip.de.srt", "clip.srt", "clip.en.srt"], "clip.srt"],
    [
      "that is the original",
      ["clip.de.vtt", "clip.en-orig.vtt", "clip.en.vtt"],
      "clip.en-orig.vtt",
    ],
    ["that is the default", ["clip.de.srt", "clip.fr.default.srt"], "clip.fr.default.srt"],
    ["with all words", ["clip.en.forced.srt", "clip.en.srt", "clip.eng.sdh.srt"], "clip.en.srt"],
  ])("of several is the one %s", async (_, names, transcript) => {
    const { films } = await select(await writeFolder(["clip.mp4", ...names]));
    expect(films).toEqual({ "clip.mp4": transcript });
  });

  it("of several languages is none, which is said, as the film's language isn't known", async () => {
    const { films, refused } = await select(
      await writeFolder(["clip.mp4", "clip.de.srt", "clip.en.srt"]),
    );
    expect(films).toEqual({ "clip.mp4": undefined });
    const reason = expect.stringContaining("one of several languages");
    expect(refused).toEqual({ "clip.de.srt": reason, "clip.en.srt": reason });
  });
});

const LICENCE = "Copyright 2024 A. Person. All rights reserved.\nSee section 1:20 of the terms.\n";
const CAMERA = "Shot at 12:30:05 on the roof.\nDuration: 00:01:20\nISO 400\n12:30 - 13:00 roof\n";
const json = (value: unknown) => JSON.stringify(value);
const DRONE = `1\n00:00:00,000 --> 00:00:00,033
<font size="28">FrameCnt: 1, DiffTime: 33ms [iso: 100] [shutter: 1/1000.0] [latitude: 1.5]</font>\n`;

describe("a text beside a video", () => {
  it.each<[name: string, extension: string, text: string | Buffer]>([
    ["a licence", "txt", LICENCE],
    ["notes of a camera", "txt", CAMERA],
    ["a list of chapters", "txt", "0:00 Intro\n1:20 The roof\n3:45 The end\n"],
    ["prose", "txt", "A heron lands. Then it starts again.\n"],
    ["a table", "tsv", "name\tvalue\ncamera\tA\n"],
    ["metadata of a camera", "json", json({ camera: "A", start: 0, text: "on the roof" })],
    ["metadata with a list", "json", json({ people: [{ name: "Ann" }], tags: ["roof"] })],
    ["metadata with dates", "json", json({ segments: [{ start: "2024-05-31", text: "roof" }] })],
    ["chapters", "json", json({ chapters: [{ start: 0, title: "Intro" }] })],
    ["a word in JSON", "json", '"text"'],
    ["no JSON", "json", "{ camera"],
    ["nothing", "json", ""],
    ["null", "json", "null"],
  ])("is skipped without harm if it is %s", async (_, extension, text) => {
    const name = `clip.${extension}`;
    const result = await select(await writeFolder({ "clip.mp4": MP4, [name]: text }));
    expect(result).toEqual({ films: { "clip.mp4": undefined }, refused: {}, skipped: [name] });
  });

  it.each<[name: string, extension: string, text: string]>([
    ["empty", "srt", ""],
    ["prose", "vtt", LICENCE.replace("1:20", "")],
    ["what a drone measured", "SRT", DRONE],
  ])("is skipped with the reason if it should have cues, and is %s", async (_, extension, text) => {
    const name = `clip.${extension}`;
    const result = await select(await writeFolder({ "clip.mp4": MP4, [name]: text }));
    const refused = { [name]: "has no speech with times" };
    expect(result).toEqual({ films: { "clip.mp4": undefined }, refused, skipped: [] });
  });

  const cue = { start: 0, end: 1.5, text: "A heron lands." };
  const word = { word: "heron", start: 0, end: 1 };
  it.each<[name: string, extension: string, text: string | Buffer]>([
    ["SubRip", "txt", SRT],
    ["SubRip in UTF-16", "txt", Buffer.from(`\ufeff${SRT}`, "utf16le")],
    ["SubRip in UTF-8 with a mark", "srt", `\ufeff${SRT}`],
    ["WebVTT", "txt", "WEBVTT\n\n00:00.000 --> 00:01.500\nA heron lands.\n"],
    ["lines in brackets", "txt", "[00:00.000 --> 00:01.500]  A heron lands.\n"],
    ["SBV", "txt", "0:00:00.000,0:00:01.500\nA heron lands.\n"],
    ["MicroDVD", "txt", "{0}{25}A heron lands.\n"],
    ["MPL2", "txt", "[0][15]A heron lands.\n"],
    ["LRC", "txt", "[00:00.00]A heron lands.\n"],
    ["LRC without fractions", "lrc", "[00:00]A heron lands.\n"],
    ["TSV", "tsv", "start\tend\ttext\n0\t1500\tA heron lands.\n"],
    ["SCC", "scc", "Scenarist_SCC V1.0\n\n00:00:00:00\t9420 9420 94ae 94ae c8e5\n"],
    ["TTML", "ttml", '<tt><body><div><p begin="0s" end="1.5s">A heron.</p></div></body></tt>'],
    ["ASS", "ass", "[Events]\nDialogue: 0,0:00:00.00,0:00:01.50,Default,,0,0,0,,A heron.\n"],
    ["a list of cues", "json", json([cue])],
    ["a list of cues with a mark", "json", `\ufeff${json([null, cue])}`],
    ["cues", "json", json({ cues: [cue] })],
    ["Whisper's segments", "json", json({ text: "A heron lands.", segments: [cue] })],
    ["words", "json", json({ words: [word] })],
    ["offsets", "json", json({ transcription: [{ offsets: { from: 0, to: 9 }, text: "A" }] })],
    ["chunks", "json", json({ text: "A", chunks: [{ timestamp: [0, 1.5], text: "A" }] })],
    ["events", "json", json({ events: [{ tStartMs: 0 }, { tStartMs: 0, segs: [{ utf8: "A" }] }] })],
    ["utterances", "json", json({ results: { utterances: [{ start: 0, transcript: "A" }] } })],
    [
      "words of channels",
      "json",
      json({ results: { channels: [{ alternatives: [{ words: [word] }] }] } }),
    ],
  ])("is the transcript if it is %s", async (_, extension, text) => {
    const name = `clip.${extension}`;
    const { films } = await select(await writeFolder({ "clip.mp4": MP4, [name]: text }));
    expect(films).toEqual({ "clip.mp4": name });
  });
});

it("folders and files of the system are no part of a folder, unless they are named", async () => {
  const folders = [
    "@eaDir/clip.mp4",
    ".AppleDouble",
    "__MACOSX",
    "#recycle",
    ".thumbnails",
    "@Recycle",
  ];
  const names = ["clip.mp4", "sub/thumbnails/b.mp4", "sub/._c.mp4", "sub/Thumbs.db", ".DS_Store"];
  const folder = await writeFolder([...names, ...folders.map((name) => `sub/${name}/a.mp4`)]);
  const found = await select(folder);
  expect(Object.keys(found.films)).toEqual(["clip.mp4", "sub/thumbnails/b.mp4"]);
  expect(found.skipped).toEqual([]);
  expect(Object.keys((await select(join(folder, "sub/#recycle"))).films)).toEqual(["a.mp4"]);
});

describe("links of a folder", () => {
  const FILES = ["lib/film.mp4", "real/target.mp4", "real/target.srt", "real/deep/other.mp4"];
  async function writeLinks(): Promise<string> {
    const folder = await writeFolder([...FILES, "lib/sub/own.mp4"]);
    const links = {
      "lib/link.mp4": "../real/target.mp4",
      "lib/film.srt": "../real/target.srt",
      "lib/sub/folder": "../../real",
      "lib/sub/loop": "..",
      "lib/again.mp4": "sub/own.mp4",
      "lib/broken.mp4": "/nowhere",
      "real/deep/back": "../../lib",
    };
    for (const [path, target] of Object.entries(links)) await symlink(target, join(folder, path));
    return join(folder, "lib");
  }

  it("that lead out of it are listed with the reason, and the others followed once", async () => {
    const out = "leads out of its folder";
    expect(await select(await writeLinks())).toEqual({
      films: { "film.mp4": undefined, "sub/own.mp4": undefined },
      refused: {
        "broken.mp4": "leads nowhere",
        "film.srt": out,
        "link.mp4": out,
        "sub/folder": out,
      },
      skipped: [],
    });
  });

  it("are all followed on demand, each target once", async () => {
    const { films, refused } = await select(await writeLinks(), true);
    expect(films).toEqual({
      "film.mp4": "film.srt",
      "link.mp4": undefined,
      "sub/folder/deep/other.mp4": undefined,
      "sub/own.mp4": undefined,
    });
    expect(refused).toEqual({ "broken.mp4": "leads nowhere" });
  });
});
