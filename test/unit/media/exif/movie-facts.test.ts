import { describe, expect, it } from "vitest";
import { makeBox } from "../../../../src/media/container/mp4-boxes.ts";
import { readMovieFacts } from "../../../../src/media/exif/movie-facts.ts";
import { imageOfBytes } from "../../../../src/media/pixels/decode-image.ts";
import { element, makeMatroska } from "../../../support/hostile-media.ts";

describe("facts of what took a video", () => {
  const latin1 = (text: string) => Buffer.from(text, "latin1");
  const header = (seconds: number) => {
    const content = Buffer.alloc(100);
    content.writeUInt32BE(seconds, 4);
    return makeBox("mvhd", content);
  };
  const movie = (...boxes: Uint8Array[]) =>
    imageOfBytes(
      Buffer.concat([
        makeBox("ftyp", Buffer.from("qt  \0\0\0\0")),
        makeBox("moov", Buffer.concat(boxes)),
      ]),
    );
  const taken = header(2_082_844_800 + Date.UTC(2024, 5, 1, 10, 30) / 1000);
  const place = Buffer.from("\0\x12\x15\xc7+60.3916+005.3200/", "latin1");

  it("are its creation and its place, as Android writes it", async () => {
    const userData = makeBox("udta", makeBox("\xa9xyz", place));
    expect(await readMovieFacts(movie(taken, userData))).toEqual({
      taken_at: "2024-06-01T10:30:00.000Z",
      latitude: 60.3916,
      longitude: 5.32,
    });
  });

  /** Makes a box `meta` with keys and their texts. */
  const meta = (texts: Record<string, string>, start: Uint8Array = new Uint8Array()) => {
    const keys = Object.keys(texts).map((name) => makeBox("mdta", latin1(name)));
    const items = Object.values(texts).map((text, i) => {
      const item = Buffer.from(makeBox("....", makeBox("data", [1, 0], latin1(text))));
      item.writeUInt32BE(i + 1, 4);
      return item;
    });
    const listed = makeBox("keys", [0, keys.length], ...keys);
    return makeBox(
      "meta",
      start,
      makeBox("hdlr", Buffer.alloc(25)),
      listed,
      makeBox("ilst", ...items),
    );
  };
  const APPLE = {
    "com.apple.quicktime.creationdate": "2024-06-01T00:30:00+0200",
    "com.apple.quicktime.make": "Apple",
    "com.apple.quicktime.model": "iPhone 15",
    "com.apple.quicktime.location.ISO6709": "-33.8583-070.5000+125.000CRSWGS_84/",
  };
  const BY_APPLE = {
    taken_at: "2024-05-31T22:30:00.000Z",
    camera: "Apple iPhone 15",
    latitude: -33.8583,
    longitude: -70.5,
    altitude: 125,
  };

  it.each([
    ["in its movie", movie(taken, meta(APPLE))],
    ["in its user data", movie(taken, makeBox("udta", meta(APPLE, Buffer.alloc(4))))],
    ["after an export without a time", movie(header(0), meta(APPLE))],
  ])("are its keys before its header: %s", async (_, file) => {
    expect(await readMovieFacts(file)).toEqual(BY_APPLE);
  });

  it("are the texts of a camera in user data", async () => {
    const text = (content: string) =>
      latin1(`\0${String.fromCharCode(content.length)}\x15\xc7${content}`);
    const userData = makeBox(
      "udta",
      makeBox("\xa9mak", text("NIKON CORPORATION")),
      makeBox("\xa9mod", text("NIKON Z 6_2")),
      makeBox("\xa9day", text("2024-06-01T12:30:00+02:00")),
    );
    expect(await readMovieFacts(movie(userData))).toEqual({
      taken_at: "2024-06-01T10:30:00.000Z",
      camera: "NIKON Z 6_2",
    });
  });

  it("are the creation of its first track, where its movie has none", async () => {
    const content = Buffer.alloc(84);
    content.writeUInt32BE(2_082_844_800 + Date.UTC(2024, 5, 1) / 1000, 4);
    const file = movie(header(0), makeBox("trak", makeBox("tkhd", content)));
    expect(await readMovieFacts(file)).toEqual({ taken_at: "2024-06-01T00:00:00.000Z" });
  });

  it.each([
    ["a creation of zero", movie(header(0))],
    ["a short header", movie(makeBox("mvhd", Buffer.alloc(3)))],
    ["a creation before 1970", movie(header(1))],
    [
      "a place beyond the pole",
      movie(makeBox("udta", Buffer.from("\xa9xyz+91.0+005.3/", "latin1"))),
    ],
    ["no movie", imageOfBytes(Buffer.from("RIFF"))],
  ])("are left out of a file with %s", async (_, file) => {
    expect(await readMovieFacts(file)).toEqual({});
  });

  it.each([
    ["a place of 0, 0", "+00.0000+000.0000/", {}],
    ["a place on the equator", "+00.0000+005.3000/", { latitude: 0, longitude: 5.3 }],
  ])("of %s", async (_, text, expected) => {
    const file = movie(meta({ "com.apple.quicktime.location.ISO6709": text }));
    expect(await readMovieFacts(file)).toEqual(expected);
  });

  it("are the names of chapters, of an MP4 and of a Matroska", async () => {
    const named = (name: string) =>
      Buffer.concat([Buffer.alloc(8), Buffer.from([name.length]), latin1(name)]);
    const chapters = Buffer.concat([
      Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 2]),
      named("Dawn"),
      named("The storm"),
    ]);
    const userData = makeBox("udta", makeBox("chpl", chapters));
    expect(await readMovieFacts(movie(userData))).toEqual({ description: "Dawn. The storm" });
    const atom = (name: string) => element("b6", element("80", element("85", latin1(name))));
    const edition = element("1043a770", element("45b9", atom("Dawn"), atom("The storm")));
    expect(await readMovieFacts(imageOfBytes(makeMatroska(edition)))).toEqual({
      description: "Dawn. The storm",
    });
  });

  const lengthOf = (text: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    return length;
  };
  const comment = (text: string) => Buffer.concat([lengthOf(Buffer.from(text)), Buffer.from(text)]);
  const flac = (...texts: string[]) => {
    const count = Buffer.from([texts.length, 0, 0, 0]);
    const comments = Buffer.concat([comment("maker"), count, ...texts.map(comment)]);
    const info = Buffer.from(`10001000000000000000000bb80170${"0".repeat(38)}`, "hex");
    const block = (type: number, content: Buffer) =>
      Buffer.concat([Buffer.from([type, 0, content.length >> 8, content.length & 255]), content]);
    return Buffer.concat([latin1("fLaC"), block(0, info), block(0x84, comments)]);
  };
  const mp3 = () => {
    const text = latin1("\0Lullaby of the harbour");
    const frame = Buffer.concat([latin1("TIT2"), Buffer.from([0, 0, 0, text.length, 0, 0]), text]);
    const tag = Buffer.concat([latin1("ID3\x03\0\0"), Buffer.from([0, 0, 0, frame.length]), frame]);
    const silence = Buffer.concat([Buffer.from("fffb9064", "hex"), Buffer.alloc(413)]);
    return Buffer.concat([tag, ...Array.from({ length: 8 }, () => silence)]);
  };

  it.each<[string, Buffer, object]>([
    ["ID3", mp3(), { description: "Lullaby of the harbour" }],
    [
      "Vorbis comments",
      flac("TITLE=Interview", "ARTIST=Ann", "GENRE=Talk", "CHAPTER001NAME=Youth"),
      { description: "Interview. Ann. Youth", keywords: ["Talk"] },
    ],
    ["tags that are cut off", flac("TITLE=Interview").subarray(0, 60), {}],
  ])("are what a sound says in %s", async (_, bytes, facts) => {
    expect(await readMovieFacts(imageOfBytes(bytes))).toEqual(facts);
  });

  it("are the time in a Matroska", async () => {
    const date = Buffer.alloc(8);
    date.writeBigInt64BE(BigInt(Date.UTC(2024, 5, 1, 10) - Date.UTC(2001, 0, 1)) * 1_000_000n);
    const info = (id: string) =>
      element("1549a966", element("2ad7b1", Buffer.from([1])), element(id, date));
    const read = (parts: Uint8Array) => readMovieFacts(imageOfBytes(makeMatroska(parts)));
    expect(await read(info("4461"))).toEqual({ taken_at: "2024-06-01T10:00:00.000Z" });
    expect(await read(info("4462"))).toEqual({});
  });

  const chunk = (type: string, ...parts: Uint8Array[]) => {
    const content = Buffer.concat(parts);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(content.length);
    return Buffer.concat([latin1(type), size, content, Buffer.alloc(content.length % 2)]);
  };
  const riff = (type: string, ...chunks: Buffer[]) =>
    imageOfBytes(chunk("RIFF", latin1(type), ...chunks));
  const bext = (time: string) => chunk("bext", Buffer.alloc(320), latin1(time), Buffer.alloc(264));
  const list = (type: string, ...chunks: Buffer[]) => chunk("LIST", latin1(type), ...chunks);
  const frames = list("movi", chunk("IDIT", latin1("2001-01-01")), Buffer.alloc(5));

  it.each([
    ["a broadcast WAVE", riff("WAVE", bext("2024-06-0100:30:00"), chunk("data")), "00:30:00"],
    ["one with hyphens", riff("WAVE", bext("2024-06-0100-30-00")), "00:30:00"],
    [
      "one of RF64",
      imageOfBytes(
        chunk("RF64", latin1("WAVE"), chunk("ds64", Buffer.alloc(28)), bext("2024:06:0100:30:00")),
      ),
      "00:30:00",
    ],
    [
      "an AVI in words",
      riff("AVI ", list("hdrl", chunk("IDIT", latin1("SAT JUN 01 12:30:00 2024\n\0")))),
      "12:30:00",
    ],
    [
      "an AVI in numbers",
      riff("AVI ", list("hdrl", chunk("avih"), chunk("IDIT", latin1("2024:06:01 12:30:00")))),
      "12:30:00",
    ],
    [
      "a list behind frames",
      riff(
        "AVI ",
        frames,
        list("INFO", chunk("ISFT", latin1("odd")), chunk("ICRD", latin1("2024-06-01\0"))),
      ),
      "00:00:00",
    ],
  ])("are the time in %s", async (_, file, clock) => {
    expect(await readMovieFacts(file)).toEqual({ taken_at: `2024-06-01T${clock}.000Z` });
  });
});
