import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  MkvOutputFormat,
  Output,
} from "mediabunny";
import { beforeAll, describe, expect, it } from "vitest";
import { readTimeline, requireComplete } from "../../../../src/media/container/timeline.ts";
import { atRate, makeVideo } from "../../../engine/video-file.ts";
import { type Edit, toRangedFile, withEdits } from "../../../support/patched-media.ts";

const SECONDS = 6;
const FRAMES = { times: atRate(25, SECONDS * 25), audioSeconds: SECONDS };
/** Time of the first frame in the stream: frames are stored in another order. */
const FIRST_SECONDS = 0.08;

let mp4: Uint8Array;
let frontMp4: Uint8Array;
let fragmentedMp4: Uint8Array;
let hybridMp4: Uint8Array;
let mkv: Uint8Array;

beforeAll(async () => {
  const make = (container: "mp4" | "matroska", movflags?: string) =>
    makeVideo({ ...FRAMES, container, ...(movflags && { options: { movflags } }) });
  mp4 = await make("mp4");
  frontMp4 = await make("mp4", "+faststart");
  fragmentedMp4 = await make("mp4", "+frag_keyframe+empty_moov");
  hybridMp4 = await make("mp4", "+frag_keyframe");
  mkv = await make("matroska");
});

const read = (bytes: Uint8Array) => readTimeline(toRangedFile(bytes));

/** Writes a Matroska file with one frame a second, which hold no picture. */
async function writeMkv(firstSeconds: number, seconds: number): Promise<Uint8Array> {
  const output = new Output({ format: new MkvOutputFormat(), target: new BufferTarget() });
  const source = new EncodedVideoPacketSource("vp9");
  output.addVideoTrack(source);
  await output.start();
  const decoderConfig = { codec: "vp09.00.10.08", codedWidth: 320, codedHeight: 180 };
  for (let i = 0; i < seconds; i++) {
    const packet = new EncodedPacket(new Uint8Array(100).fill(1), "key", firstSeconds + i, 1);
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  return new Uint8Array(output.target.buffer!);
}

/** Makes the header of a FLAC of 44.1 kHz (RFC 9639, section 8), followed by bytes. */
function flacBefore(bytes: Uint8Array): Uint8Array {
  const info = Buffer.from("1200120000000000000a0ac442f000000000".padEnd(68, "0"), "hex");
  return Buffer.concat([Buffer.from("fLaC\x80\0\0\x22", "latin1"), info, bytes]);
}

describe("a FLAC without a frame", () => {
  it.each([
    ["nothing", Buffer.alloc(0)],
    ["zeros", Buffer.alloc(4096)],
    ["other bytes", Buffer.from("reference libFLAC 1.1.1 ".repeat(40))],
  ])("has no length: %s", async (_, bytes) => {
    expect((await read(flacBefore(bytes))).durationSeconds).toBe(0);
  });
});

describe("the duration of", () => {
  it.each<[string, () => Uint8Array | Promise<Uint8Array>, number]>([
    ["an MP4", () => mp4, SECONDS],
    ["an MP4 with its index in front", () => frontMp4, SECONDS],
    ["a fragmented MP4", () => fragmentedMp4, SECONDS],
    ["a Matroska file", () => mkv, SECONDS],
    ["a Matroska file that starts at 100 s", () => writeMkv(100, 12), 12],
    ["a still in a Matroska file", () => writeMkv(0, 1), 1],
  ])("%s is that of what it shows", async (_, bytes, seconds) => {
    const { durationSeconds, missing, video } = await read(await bytes());
    expect(durationSeconds).toBeCloseTo(seconds, 0);
    expect(Math.abs(durationSeconds - seconds)).toBeLessThan(0.15);
    expect(video!.start).toBe(0);
    expect(missing).toBeNull();
  });
});

const cut = (duration: number, from = 0, rate = 1): Edit => {
  return { duration, streamStart: from + FIRST_SECONDS, rate };
};

describe("an edit list with", () => {
  it.each<[string, Edit[], number]>([
    ["a trimmed end", [cut(2)], 2],
    ["a delay of all tracks", [{ duration: 2, streamStart: null, rate: 1 }, cut(3)], 3],
  ])("%s gives the time that a player shows", async (_, edits, seconds) => {
    const { durationSeconds } = await read(await withEdits(mp4, edits));
    expect(durationSeconds).toBeCloseTo(seconds, 1);
  });
});

const refused = { code: "unreadable_container" };

it.each<[string, Edit[]]>([
  ["two cuts", [cut(1), cut(2, 3)]],
  ["a still", [cut(4, 1, 0)]],
  ["a pause after a cut", [cut(1), { duration: 2, streamStart: null, rate: 1 }]],
])("an edit list with %s is left to the decoder", async (_, edits) => {
  await expect(read(await withEdits(mp4, edits))).rejects.toMatchObject(refused);
});

it("an MP4 with samples and fragments is left to the decoder", async () => {
  await expect(read(hybridMp4)).rejects.toMatchObject(refused);
});

describe("a file that isn't complete is left to the decoder, and says what is missing", () => {
  const cutOff = (bytes: Uint8Array) => bytes.subarray(0, Math.round(bytes.length * 0.6));

  it.each<[string, () => Uint8Array]>([
    ["a truncated MP4 with its index in front", () => cutOff(frontMp4)],
    [
      "an MP4 that ends with zeros",
      () =>
        Buffer.concat([cutOff(frontMp4), Buffer.alloc(frontMp4.length - cutOff(frontMp4).length)]),
    ],
    ["a truncated fragmented MP4", () => cutOff(fragmentedMp4)],
    ["a truncated Matroska file", () => cutOff(mkv)],
  ])("%s", async (_, bytes) => {
    await expect(requireComplete(toRangedFile(bytes()))).rejects.toMatchObject({
      ...refused,
      message: expect.stringMatching(/^The file isn't complete: at least \d+ bytes are missing\./),
    });
  });
});

it("nothing is missing of a trimmed MP4 whose rest isn't shown", async () => {
  expect((await read(await withEdits(mp4, [cut(2)]))).missing).toBeNull();
});

it("nothing is missing of an MP4 with bytes behind its boxes", async () => {
  for (const bytes of [Buffer.from("a trailer of a camera"), Buffer.alloc(5000)])
    await requireComplete(toRangedFile(Buffer.concat([mp4, bytes])));
});

it("what a Matroska file lacks of the length that it states is told", async () => {
  // The segment's size, of eight bytes, becomes unknown, as of a recording that broke off.
  const bytes = Buffer.from(mkv.subarray(0, Math.round(mkv.length * 0.6)));
  const size = bytes.indexOf(Buffer.from("18538067", "hex")) + 4;
  bytes.fill(0xff, size + 1, size + 8);
  const { missing, durationSeconds } = await read(bytes);
  expect(missing).toMatchObject({ bytes: 0, fromSeconds: durationSeconds });
  expect(durationSeconds + missing!.seconds).toBeCloseTo(SECONDS, 0);
});
