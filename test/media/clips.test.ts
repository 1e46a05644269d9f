import {
  ALL_FORMATS,
  BufferSource,
  type EncodedPacket,
  EncodedPacketSink,
  Input,
} from "mediabunny";
import { beforeAll, describe, expect, it } from "vitest";
import {
  cutFrameClip,
  maxClipBytes,
  cutSparseClip,
  listFrames,
} from "../../src/media/container/clips.ts";
import { type PresentedVideo, presentWhole } from "../../src/media/container/timeline.ts";
import { fixture } from "../support/client.ts";

const MIB = 2 ** 20;
let track: PresentedVideo;

beforeAll(async () => {
  const source = new BufferSource(await (await fixture("speech.mp4")).arrayBuffer());
  const input = new Input({ source, formats: ALL_FORMATS });
  track = presentWhole((await input.getPrimaryVideoTrack())!);
});

/** Packets of a clip in MP4, and the presentation time of the last one. */
async function readClip(file: Blob) {
  const source = new BufferSource(await file.arrayBuffer());
  using input = new Input({ source, formats: ALL_FORMATS });
  const sink = new EncodedPacketSink((await input.getPrimaryVideoTrack())!);
  const packets: EncodedPacket[] = [];
  for await (const packet of sink.packets()) packets.push(packet);
  const bytes = packets.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return {
    count: packets.length,
    bytes,
    lastSeconds: Math.max(...packets.map((p) => p.timestamp)),
  };
}

describe("a clip of one frame", () => {
  it("shows the frame that is on screen at the requested time", async () => {
    const clip = await cutFrameClip(track, 1.85, 16 * MIB);
    expect(clip.atSeconds).toBeCloseTo(1.85);
  });

  it("shows an earlier frame where the frames before the requested one exceed its size", async () => {
    const whole = await readClip((await cutFrameClip(track, 1.85, 16 * MIB)).file);
    const maxBytes = whole.bytes - 1;
    const clip = await cutFrameClip(track, 1.85, maxBytes);
    const { count, bytes, lastSeconds } = await readClip(clip.file);
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(count).toBeGreaterThan(1);
    expect(clip.atSeconds).toBeLessThan(1.85);
    expect(lastSeconds).toBeGreaterThanOrEqual(Math.floor(clip.atSeconds * 10) / 10);
  });

  it("has its first frame even if that alone exceeds its size", async () => {
    const clip = await cutFrameClip(track, 1.85, 1);
    expect(await readClip(clip.file)).toMatchObject({ count: 1 });
    expect(clip.atSeconds).toBeLessThan(0.1);
  });
});

describe("a clip of chosen frames", () => {
  it("has those that fit where the group of pictures exceeds its size", async () => {
    const times = [0, 0.5, 1, 1.5];
    const all = await cutSparseClip(track, times, 16 * MIB);
    const { bytes } = await readClip(all.file);
    const some = await cutSparseClip(track, times, bytes / 2);
    expect(all.presentationTimes).toEqual(times);
    expect(some.presentationTimes.length).toBeGreaterThan(0);
    expect(some.presentationTimes.length).toBeLessThan(times.length);
    expect(some.presentationTimes).toEqual(times.slice(0, some.presentationTimes.length));
  });

  it("is empty where none fits", async () => {
    const clip = await cutSparseClip(track, [1.5], 1);
    expect(clip.presentationTimes).toEqual([]);
  });
});

it("the frames of a range begin with the one on screen at its start", async () => {
  const frames = await listFrames(track, { start: 1.05, end: 1.35 });
  expect(frames.map(({ seconds }) => Math.round(seconds * 10) / 10)).toEqual([1, 1.1, 1.2, 1.3]);
});

describe("the largest size of a clip", () => {
  it("is at least that of the clip of the same range", async () => {
    const range = { start: 1, end: 3 };
    const times = (await listFrames(track, range)).map(({ seconds }) => seconds);
    const { bytes } = await readClip((await cutSparseClip(track, times, 16 * MIB)).file);
    const most = await maxClipBytes(track, range, 16 * MIB);
    expect(most).toBeGreaterThanOrEqual(bytes);
    expect(most).toBeLessThan(MIB);
  });

  it("is at most the given one", async () => {
    expect(await maxClipBytes(track, { start: 0, end: 3 }, 1000)).toBe(1000);
  });
});
