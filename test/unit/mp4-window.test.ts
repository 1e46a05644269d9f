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
import type { RangedFile } from "../../src/media/mp4-boxes.ts";
import { type Patch, type Span, windowIndex } from "../../src/media/mp4-window.ts";

const FPS = 25;
const GROUP = 60; // pictures
const START: Span = { from: 0, to: 0 };
const END: Span = { from: Infinity, to: Infinity };

interface Kind {
  format: OutputFormat;
  audio?: AudioCodec;
  /** When the first picture is shown. */
  begins?: number;
}

/** A film of packets that hold their number, every third picture stored two ahead of when it is shown. */
async function write(seconds: number, { format, audio, begins = 0 }: Kind): Promise<Uint8Array> {
  const output = new Output({ format, target: new BufferTarget() });
  const video = new EncodedVideoPacketSource("vp9");
  const sound = audio && new EncodedAudioPacketSource(audio);
  output.addVideoTrack(video, { rotation: 90 });
  if (sound) output.addAudioTrack(sound, { languageCode: "nor" });
  await output.start();
  const config = { codec: "vp09.00.10.08", codedWidth: 320, codedHeight: 180 };
  const heard = {
    codec: audio === "aac" ? "mp4a.40.2" : "pcm-s16",
    numberOfChannels: 1,
    sampleRate: 48_000,
    ...(audio === "aac" && { description: Uint8Array.of(0x11, 0x88) }),
  };
  const bytesOf = (number: number, length: number) => {
    const bytes = new Uint8Array(length);
    new DataView(bytes.buffer).setUint32(0, number);
    return bytes;
  };
  const packets = Math.round(seconds * FPS);
  for (let i = 0; i < packets; i++) {
    const place = i % GROUP;
    const shift = place === 0 ? 0 : [1, 1, -2][(place - 1) % 3]!;
    const shown = begins + (i - place + Math.min(GROUP - 1, place - shift)) / FPS;
    const type = place === 0 ? "key" : "delta";
    await video.add(new EncodedPacket(bytesOf(i, 8 + (i % 5)), type, shown, 1 / FPS), {
      decoderConfig: config,
    });
    if (!sound) continue;
    const samples = bytesOf(i, audio === "aac" ? 10 + (i % 3) : 3840);
    await sound.add(new EncodedPacket(samples, "key", i / FPS, 1 / FPS), { decoderConfig: heard });
  }
  await output.finalize();
  return new Uint8Array(output.target.buffer!);
}

function fileOf(bytes: Uint8Array): RangedFile {
  return { size: bytes.length, read: async (start, end) => bytes.slice(start, end) };
}

/** The file as a reader sees it. */
function open(bytes: Uint8Array, patch: Patch | null): Input {
  const seen = bytes.slice();
  if (patch) seen.fill(0, patch.start, patch.end).set(patch.bytes, patch.start);
  const read = (start: number, end: number) => seen.slice(start, end);
  const source = new CustomSource({ getSize: () => seen.length, read });
  return new Input({ source, formats: ALL_FORMATS });
}

/** The packets from the key picture before a stretch to its end. */
async function packetsOf(track: InputTrack, { from, to }: Span): Promise<string[]> {
  const sink = new EncodedPacketSink(track);
  const first = (await sink.getKeyPacket(from)) ?? (await sink.getFirstPacket());
  const packets: string[] = [];
  for await (const { timestamp, duration, type, data } of sink.packets(first!)) {
    if (timestamp > to + 1) break;
    packets.push(`${timestamp} ${duration} ${type} ${Buffer.from(data).toString("hex")}`);
  }
  return packets;
}

const SPANS: Span[] = [
  { from: 0, to: 47 },
  { from: 47, to: 94 },
  { from: 61.337, to: 61.337 },
  { from: 290, to: 330 },
  { from: 500, to: 600 },
];
const mp4 = (fastStart: false | "in-memory") => new Mp4OutputFormat({ fastStart });

describe.each<[string, Kind]>([
  ["with its index in the end", { format: mp4(false), audio: "aac" }],
  ["with its index in front", { format: mp4("in-memory"), audio: "aac" }],
  ["without sound", { format: mp4(false) }],
  ["whose pictures begin late", { format: mp4(false), audio: "aac", begins: 3.2 }],
  [
    "with samples of sound as they are",
    { format: new MovOutputFormat({ fastStart: false }), audio: "pcm-s16" },
  ],
])("an MP4 %s", async (_, kind) => {
  const bytes = await write(600, kind);
  const whole = open(bytes, null);
  afterAll(() => whole.dispose());

  it.each(SPANS)("gives the same packets from $from to $to s", async (span) => {
    const patch = await windowIndex(fileOf(bytes), span);
    expect(patch).not.toBeNull();
    using cut = open(bytes, patch);
    const [tracks, all] = [await cut.getTracks(), await whole.getTracks()];
    expect(tracks).toHaveLength(all.length);
    for (const [i, track] of tracks.entries()) {
      const packets = await packetsOf(track, span);
      expect(packets.length).toBeGreaterThan(0);
      expect(packets).toEqual(await packetsOf(all[i]!, span));
    }
  });

  it("is as long by what is left of its end", async () => {
    using cut = open(bytes, await windowIndex(fileOf(bytes), END));
    expect(await cut.computeDuration()).toBe(await whole.computeDuration());
  });

  it("says of itself what it did", async () => {
    using cut = open(bytes, await windowIndex(fileOf(bytes), START));
    const [track, all] = [await cut.getPrimaryVideoTrack(), await whole.getPrimaryVideoTrack()];
    expect(await track!.getRotation()).toBe(90);
    expect(await track!.getDecoderConfig()).toEqual(await all!.getDecoderConfig());
    const sound = await cut.getPrimaryAudioTrack();
    if (kind.audio) expect(await sound!.getLanguageCode()).toBe("nor");
  });
});

it("what is left is as much of a long film as of a short one", async () => {
  const span = { from: 100, to: 147 };
  const lengths: number[] = [];
  for (const seconds of [300, 3000]) {
    const bytes = await write(seconds, { format: mp4(false), audio: "aac" });
    lengths.push((await windowIndex(fileOf(bytes), span))!.bytes.length);
  }
  expect(lengths[1]).toBe(lengths[0]);
});

describe("read as it is, is", () => {
  it.each<[string, () => Promise<Uint8Array>]>([
    ["Matroska", () => write(60, { format: new MkvOutputFormat() })],
    [
      "an MP4 in fragments",
      () => write(60, { format: new Mp4OutputFormat({ fastStart: "fragmented" }) }),
    ],
    ["what is cut off", async () => (await write(60, { format: mp4(false) })).slice(0, -200)],
    ["nothing", async () => new Uint8Array()],
    ["no video", async () => new TextEncoder().encode("This is not a video, by any means.")],
  ])("%s", async (_, make) => {
    expect(await windowIndex(fileOf(await make()), { from: 0, to: 5 })).toBeNull();
  });

  it("an MP4 whose tables are damaged: no read is endless, none throws", async () => {
    const bytes = await write(60, { format: mp4(false), audio: "aac" });
    const at = Buffer.from(bytes).lastIndexOf("moov") + 4;
    let whole = 0;
    for (let i = at; i + 4 <= bytes.length; i += 7) {
      const damaged = bytes.slice();
      damaged.set([0xff, 0xff, 0xff, 0xff], i);
      if (!(await windowIndex(fileOf(damaged), { from: 20, to: 30 }))) whole++;
    }
    expect(whole).toBeGreaterThan(0);
  });
});
