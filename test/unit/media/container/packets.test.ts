import {
  BufferSource,
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Input,
  MkvOutputFormat,
  Output,
  MATROSKA,
} from "mediabunny";
import { expect, it } from "vitest";
import { getFrameRate } from "../../../../src/media/container/packets.ts";

const CODECS = { vp8: "vp8", vp9: "vp09.00.10.08", av1: "av01.0.01M.08" } as const;
type Codec = keyof typeof CODECS;

/** Writes 40 packets, 10 a second, each `hiddenEvery` one a millisecond behind the one before. */
async function write(codec: Codec, hiddenEvery = Infinity): Promise<ArrayBuffer> {
  const output = new Output({ format: new MkvOutputFormat(), target: new BufferTarget() });
  const source = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(source);
  await output.start();
  const decoderConfig = { codec: CODECS[codec], codedWidth: 320, codedHeight: 180 };
  const hiddenBefore = (n: number) => Math.floor((n + 1) / hiddenEvery);
  for (let n = 0; n < 40; n++) {
    const isHidden = hiddenBefore(n) > hiddenBefore(n - 1);
    const seconds = (n - hiddenBefore(n)) / 10 + (isHidden ? 0.001 : 0);
    const type = n === 0 ? "key" : "delta";
    const packet = new EncodedPacket(Uint8Array.of(1, 2), type, seconds, isHidden ? 0 : 0.1);
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  return output.target.buffer!;
}

it.each<[string, Codec, number?]>([
  ["VP8 whose frames are all shown", "vp8"],
  ["VP8 with hidden frames", "vp8", 5],
  ["VP9 whose frames are all shown", "vp9"],
  ["VP9 with hidden frames", "vp9", 8],
  ["AV1", "av1"],
])("the frame rate of %s is that of what is shown", async (_, codec, hiddenEvery) => {
  const source = new BufferSource(await write(codec, hiddenEvery));
  using input = new Input({ source, formats: [MATROSKA] });
  const track = (await input.getPrimaryVideoTrack())!;
  const stats = await track.computePacketStats(30);
  const rate = await getFrameRate(track, stats);
  expect(Math.abs(rate! - 10)).toBeLessThan(0.5); // with the hidden frames over 11
});
