import {
  ALL_FORMATS,
  type AudioCodec,
  BufferTarget,
  CustomSource,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  type InputTrack,
  MkvOutputFormat,
  MovOutputFormat,
  Mp4OutputFormat,
  Output,
  type OutputFormat,
} from "mediabunny";
import { afterAll, describe, expect, it } from "vitest";
import { failureOf } from "../../../../src/errors.ts";
import { type Patch, sliceMoov } from "../../../../src/media/container/moov-slice.ts";
import type { RangedFile } from "../../../../src/media/container/mp4-boxes.ts";
import type { TimeRange } from "../../../../src/time-range.ts";

const FPS = 25;
const GOP_FRAMES = 60;
const START: TimeRange = { start: 0, end: 0 };
const END: TimeRange = { start: Infinity, end: Infinity };

interface VideoSpec {
  format: OutputFormat;
  audio?: AudioCodec;
  /** Presentation time of the first frame, in seconds. */
  startSeconds?: number;
}

/** Writes a video whose packets hold their number. Every third frame is stored two frames early. */
async function writeVideo(
  seconds: number,
  { format, audio, startSeconds = 0 }: VideoSpec,
): Promise<Uint8Array> {
  const output = new Output({ format, target: new BufferTarget() });
  const videoSource = new EncodedVideoPacketSource("vp9");
  const audioSource = audio && new EncodedAudioPacketSource(audio);
  output.addVideoTrack(videoSource, { rotation: 90 });
  if (audioSource) output.addAudioTrack(audioSource, { languageCode: "nor" });
  await output.start();
  const videoConfig = { codec: "vp09.00.10.08", codedWidth: 320, codedHeight: 180 };
  const audioConfig = {
    codec: audio === "aac" ? "mp4a.40.2" : "pcm-s16",
    numberOfChannels: 1,
    sampleRate: 48_000,
    ...(audio === "aac" && { description: Uint8Array.of(0x11, 0x88) }),
  };
  const numberedBytes = (number: number, length: number) => {
    const bytes = new Uint8Array(length);
    new DataView(bytes.buffer).setUint32(0, number);
    return bytes;
  };
  const packetCount = Math.round(seconds * FPS);
  for (let i = 0; i < packetCount; i++) {
    const index = i % GOP_FRAMES;
    const shift = index === 0 ? 0 : [1, 1, -2][(index - 1) % 3]!;
    const displayIndex = Math.min(GOP_FRAMES - 1, index - shift);
    const timestamp = startSeconds + (i - index + displayIndex) / FPS;
    const type = index === 0 ? "key" : "delta";
    const packet = new EncodedPacket(numberedBytes(i, 8 + (i % 5)), type, timestamp, 1 / FPS);
    await videoSource.add(packet, { decoderConfig: videoConfig });
    if (!audioSource) continue;
    const audioBytes = numberedBytes(i, audio === "aac" ? 10 + (i % 3) : 3840);
    const audioPacket = new EncodedPacket(audioBytes, "key", i / FPS, 1 / FPS);
    await audioSource.add(audioPacket, { decoderConfig: audioConfig });
  }
  await output.finalize();
  return new Uint8Array(output.target.buffer!);
}

function toRangedFile(bytes: Uint8Array): RangedFile {
  return { size: bytes.length, read: async (start, end) => bytes.slice(start, end) };
}

/** Opens the patched file. */
function openPatched(bytes: Uint8Array, patch: Patch | null): Input {
  const patched = bytes.slice();
  if (patch) patched.fill(0, patch.start, patch.end).set(patch.bytes, patch.start);
  const read = (start: number, end: number) => patched.slice(start, end);
  const source = new CustomSource({ getSize: () => patched.length, read });
  return new Input({ source, formats: ALL_FORMATS });
}

/** Lists the packets from the key packet before a range to its end. */
async function listPackets(track: InputTrack, { start, end }: TimeRange): Promise<string[]> {
  const sink = new EncodedPacketSink(track);
  const first = (await sink.getKeyPacket(start)) ?? (await sink.getFirstPacket());
  const packets: string[] = [];
  for await (const { timestamp, duration, type, data } of sink.packets(first!)) {
    if (timestamp > end + 1) break;
    packets.push(`${timestamp} ${duration} ${type} ${Buffer.from(data).toString("hex")}`);
  }
  return packets;
}

const RANGES: TimeRange[] = [
  { start: 0, end: 47 },
  { start: 47, end: 94 },
  { start: 61.337, end: 61.337 },
  { start: 290, end: 330 },
  { start: 500, end: 600 },
];
const mp4 = (fastStart: false | "in-memory") => new Mp4OutputFormat({ fastStart });

describe.each<[string, VideoSpec]>([
  ["with its moov at the end", { format: mp4(false), audio: "aac" }],
  ["with its moov at the start", { format: mp4("in-memory"), audio: "aac" }],
  ["without audio", { format: mp4(false) }],
  ["whose first frame isn't at 0 s", { format: mp4(false), audio: "aac", startSeconds: 3.2 }],
  [
    "with uncompressed audio",
    { format: new MovOutputFormat({ fastStart: false }), audio: "pcm-s16" },
  ],
])("the moov slice of an MP4 %s", async (_, spec) => {
  const bytes = await writeVideo(600, spec);
  const whole = openPatched(bytes, null);
  afterAll(() => whole.dispose());

  it.each(RANGES)("gives the same packets from $start to $end s", async (range) => {
    const patch = await sliceMoov(toRangedFile(bytes), range);
    expect(patch).not.toBeNull();
    using sliced = openPatched(bytes, patch);
    const [tracks, wholeTracks] = [await sliced.getTracks(), await whole.getTracks()];
    expect(tracks).toHaveLength(wholeTracks.length);
    for (const [i, track] of tracks.entries()) {
      const packets = await listPackets(track, range);
      expect(packets.length).toBeGreaterThan(0);
      expect(packets).toEqual(await listPackets(wholeTracks[i]!, range));
    }
  });

  it("gives the same duration for the end of the video", async () => {
    using sliced = openPatched(bytes, await sliceMoov(toRangedFile(bytes), END));
    expect(await sliced.computeDuration()).toBe(await whole.computeDuration());
  });

  it("has the same properties of the tracks", async () => {
    using sliced = openPatched(bytes, await sliceMoov(toRangedFile(bytes), START));
    const track = await sliced.getPrimaryVideoTrack();
    const wholeTrack = await whole.getPrimaryVideoTrack();
    expect(await track!.getRotation()).toBe(90);
    expect(await track!.getDecoderConfig()).toEqual(await wholeTrack!.getDecoderConfig());
    const audioTrack = await sliced.getPrimaryAudioTrack();
    if (spec.audio) expect(await audioTrack!.getLanguageCode()).toBe("nor");
  });
});

it("the moov slice of a long video is as large as that of a short one", async () => {
  const range = { start: 100, end: 147 };
  const lengths: number[] = [];
  for (const seconds of [300, 3000]) {
    const bytes = await writeVideo(seconds, { format: mp4(false), audio: "aac" });
    lengths.push((await sliceMoov(toRangedFile(bytes), range))!.bytes.length);
  }
  expect(lengths[1]).toBe(lengths[0]);
});

/** Codes of too many entries, and of an edit list that the decoder reads. */
const REFUSALS = ["too_large", "unreadable_container"];

describe("a file without a usable moov", () => {
  it.each<[string, () => Promise<Uint8Array>]>([
    ["Matroska", () => writeVideo(60, { format: new MkvOutputFormat() })],
    [
      "a fragmented MP4",
      () => writeVideo(60, { format: new Mp4OutputFormat({ fastStart: "fragmented" }) }),
    ],
    ["truncated", async () => (await writeVideo(60, { format: mp4(false) })).slice(0, -200)],
    ["empty", async () => new Uint8Array()],
    ["text", async () => new TextEncoder().encode("This is not a video, by any means.")],
  ])("is read unchanged: %s", async (_, makeFile) => {
    expect(await sliceMoov(toRangedFile(await makeFile()), { start: 0, end: 5 })).toBeNull();
  });

  it("doesn't hang the reader, and throws only if it promises too much", async () => {
    const bytes = await writeVideo(60, { format: mp4(false), audio: "aac" });
    const moovStart = Buffer.from(bytes).lastIndexOf("moov") + 4;
    let unchangedCount = 0;
    for (let i = moovStart; i + 4 <= bytes.length; i += 7) {
      const damaged = bytes.slice();
      damaged.set([0xff, 0xff, 0xff, 0xff], i);
      const slice = await sliceMoov(toRangedFile(damaged), { start: 20, end: 30 }).catch(
        (error: unknown) => failureOf(error).code,
      );
      if (slice === null) unchangedCount++;
      else if (typeof slice === "string") expect(REFUSALS).toContain(slice);
    }
    expect(unchangedCount).toBeGreaterThan(0);
  });
});
