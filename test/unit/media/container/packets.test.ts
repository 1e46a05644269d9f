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

/** Writes 40 packets, 10 a second, which begin and end with bytes by their number. */
async function write(codec: Codec, bytesOf: (n: number) => string): Promise<ArrayBuffer> {
  const output = new Output({ format: new MkvOutputFormat(), target: new BufferTarget() });
  const source = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(source);
  await output.start();
  const decoderConfig = { codec: CODECS[codec], codedWidth: 320, codedHeight: 180 };
  for (let n = 0; n < 40; n++) {
    const data = new Uint8Array(Buffer.from(bytesOf(n), "hex"));
    const packet = new EncodedPacket(data, n === 0 ? "key" : "delta", n / 10, 0.1);
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  return output.target.buffer!;
}

/** Returns one text for each fifth packet, and another for the others. */
const fifth = (special: string, other: string) => (n: number) => (n % 5 === 4 ? special : other);

it.each<[string, Codec, (n: number) => string, number]>([
  ["VP8 whose frames are all shown", "vp8", () => "1000", 10],
  ["VP8 with hidden frames", "vp8", fifth("0100", "1100"), 8],
  ["VP9 whose frames are all shown", "vp9", () => "8600", 10],
  ["VP9 with hidden frames", "vp9", fifth("8400", "8600"), 8],
  ["VP9 in profile 3 with hidden frames", "vp9", fifth("b200", "b300"), 8],
  ["VP9 that shows a frame again", "vp9", fifth("8800", "8600"), 10],
  ["VP9 with a hidden frame before one that is shown", "vp9", fifth("8486c10101c1", "8600"), 10],
  ["VP9 with a hidden frame that ends as an index does", "vp9", fifth("840000c1", "8600"), 8],
  ["AV1", "av1", () => "1000", 10],
])("the frame rate of %s is that of what is shown", async (_, codec, bytesOf, rate) => {
  const source = new BufferSource(await write(codec, bytesOf));
  using input = new Input({ source, formats: [MATROSKA] });
  const track = (await input.getPrimaryVideoTrack())!;
  const stats = await track.computePacketStats(30);
  expect(await getFrameRate(track, stats)).toBeCloseTo(rate, 3);
});
