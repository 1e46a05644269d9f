import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  MkvOutputFormat,
  Output,
} from "mediabunny";
import { beforeAll, describe, expect, it } from "vitest";
import { findHole, readTimeline } from "../../../../src/media/container/read-timeline.ts";
import type { Edit } from "../../../../src/media/container/timeline.ts";
import { atRate, makeVideo } from "../../../engine/video-file.ts";
import { shiftClock, toRangedFile, withEdits } from "../../../support/patched-media.ts";

const SECONDS = 6;
const FRAMES = { times: atRate(25, SECONDS * 25), audioSeconds: SECONDS };
/** Time of the first frame in the stream: frames are stored in another order. */
const FIRST_SECONDS = 0.08;
/** Clock of an MPEG-TS as it overflows. */
const OVERFLOW_SECONDS = 2 ** 33 / 90_000;

let mp4: Uint8Array;
let frontMp4: Uint8Array;
let fragmentedMp4: Uint8Array;
let hybridMp4: Uint8Array;
let mkv: Uint8Array;
let ts: Uint8Array;

beforeAll(async () => {
  const make = (container: "mp4" | "matroska" | "mpegts", movflags?: string) =>
    makeVideo({ ...FRAMES, container, ...(movflags && { options: { movflags } }) });
  mp4 = await make("mp4");
  frontMp4 = await make("mp4", "+faststart");
  fragmentedMp4 = await make("mp4", "+frag_keyframe+empty_moov");
  hybridMp4 = await make("mp4", "+frag_keyframe");
  mkv = await make("matroska");
  ts = await make("mpegts");
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

describe("the duration of", () => {
  it.each<[string, () => Uint8Array | Promise<Uint8Array>, number]>([
    ["an MP4", () => mp4, SECONDS],
    ["an MP4 with its index in front", () => frontMp4, SECONDS],
    ["a fragmented MP4", () => fragmentedMp4, SECONDS],
    ["an MP4 with samples and fragments", () => hybridMp4, SECONDS],
    ["a Matroska file", () => mkv, SECONDS],
    ["a Matroska file that starts at 100 s", () => writeMkv(100, 12), 12],
    ["an MPEG-TS", () => ts, SECONDS],
    ["an MPEG-TS that starts at 50,000 s", () => shiftClock(ts, 50_000), SECONDS],
    ["an MPEG-TS whose clock overflows", () => shiftClock(ts, OVERFLOW_SECONDS - 4), SECONDS],
    ["an MPEG-TS that starts 100 s before", () => shiftClock(ts, OVERFLOW_SECONDS - 100), SECONDS],
    ["two recordings one after another", () => Buffer.concat([ts, ts]), 2 * SECONDS],
    [
      "recordings whose clock jumps ahead and back",
      () => Buffer.concat([ts, shiftClock(ts, 900), shiftClock(ts, 20)]),
      3 * SECONDS,
    ],
  ])("%s is that of what it shows", async (_, bytes, seconds) => {
    const { durationSeconds, missing, video } = await read(await bytes());
    expect(durationSeconds).toBeCloseTo(seconds, 0);
    expect(Math.abs(durationSeconds - seconds)).toBeLessThan(0.15);
    expect(video[0]!.start).toBe(0);
    expect(missing).toBeNull();
  });
});

const cut = (duration: number, from = 0, rate = 1): Edit => {
  return { duration, streamStart: from + FIRST_SECONDS, rate };
};

describe("an edit list with", () => {
  it.each<[string, Edit[], number]>([
    ["a trimmed end", [cut(2)], 2],
    ["two cuts", [cut(1), cut(2, 3)], 3],
    ["a delay of all tracks", [{ duration: 2, streamStart: null, rate: 1 }, cut(3)], 3],
    ["a still", [cut(4, 1, 0)], 4],
  ])("%s gives the time that a player shows", async (_, edits, seconds) => {
    const { durationSeconds } = await read(await withEdits(mp4, edits));
    expect(durationSeconds).toBeCloseTo(seconds, 1);
  });
});

describe("what is missing of", () => {
  const cutOff = (bytes: Uint8Array) => bytes.subarray(0, Math.round(bytes.length * 0.6));

  it.each<[string, () => Uint8Array]>([
    ["a truncated MP4 with its index in front", () => cutOff(frontMp4)],
    [
      "an MP4 that ends with zeros",
      () =>
        Buffer.concat([cutOff(frontMp4), Buffer.alloc(frontMp4.length - cutOff(frontMp4).length)]),
    ],
    ["a truncated Matroska file", () => cutOff(mkv)],
  ])("%s is told with its time", async (_, bytes) => {
    const { missing, durationSeconds } = await read(bytes());
    expect(missing!.bytes).toBeGreaterThan(0);
    expect(missing!.fromSeconds).toBeLessThanOrEqual(durationSeconds);
    expect(durationSeconds).toBeLessThan(SECONDS - 1);
    expect(missing!.fromSeconds + missing!.seconds).toBeCloseTo(SECONDS, 0);
  });

  it.each<[string, () => Uint8Array]>([
    ["a truncated fragmented MP4", () => cutOff(fragmentedMp4)],
    ["a truncated MP4 with samples and fragments", () => cutOff(hybridMp4)],
  ])("%s is told with its bytes", async (_, bytes) => {
    const { missing, durationSeconds } = await read(bytes());
    expect(missing).toMatchObject({ bytes: expect.any(Number), fromSeconds: durationSeconds });
  });

  it.each<[string, number]>([
    ["zeros", 0],
    ["nothing", 77],
  ])("an MPEG-TS with %s in its middle is told", async (_, shift) => {
    const bytes = Buffer.from(ts);
    const [from, to] = [
      188 * Math.round(ts.length / 188 / 3),
      188 * Math.round(ts.length / 188 / 2),
    ];
    bytes.fill(0, from, to);
    const holed = shift
      ? Buffer.concat([bytes.subarray(0, from + 50), ts.subarray(to + shift)])
      : bytes;
    const { missing, durationSeconds } = await read(holed);
    expect(missing!.seconds).toBeGreaterThan(0.2);
    expect(Math.abs(durationSeconds - SECONDS)).toBeLessThan(0.15);
  });

  it("an MP4 with zeros in its middle is told with its time", async () => {
    const bytes = Buffer.from(frontMp4);
    bytes.fill(0, Math.round(bytes.length * 0.5), Math.round(bytes.length * 0.7));
    const file = toRangedFile(bytes);
    const hole = await findHole(file, await readTimeline(file));
    expect(hole!.seconds).toBeGreaterThan(0.5);
    expect(hole!.fromSeconds).toBeGreaterThan(1);
  });

  it("a trimmed MP4 isn't told if the rest isn't shown", async () => {
    expect((await read(await withEdits(mp4, [cut(2)]))).missing).toBeNull();
  });
});
