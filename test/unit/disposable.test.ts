import { EncodedPacket, type VideoCodec } from "mediabunny";
import { expect, it } from "vitest";
import { findDisposable } from "../../src/media/disposable.ts";

const NON_KEY = 0x01; // nal_ref_idc 0, a slice
const REFERENCE = 0x41; // nal_ref_idc 2, a slice
const KEY = 0x65;
const MESSAGE = 0x06; // supplemental: says nothing of the picture

/** Units of three bytes after their lengths. */
function packet(headers: number[], lengthBytes: number): EncodedPacket {
  const units = headers.flatMap((header) => [
    ...Array.from({ length: lengthBytes - 1 }, () => 0),
    3,
    header,
    7,
    7,
  ]);
  return new EncodedPacket(Uint8Array.from(units), "delta", 0, 0.04);
}

function trackOf(description?: Uint8Array | ArrayBuffer, codec: VideoCodec = "avc") {
  const config = { codec: "avc1.64001f", ...(description && { description }) };
  return {
    getCodec: () => Promise.resolve(codec),
    getDecoderConfig: () => Promise.resolve(config),
  };
}

it.each<[is: boolean, headers: number[], lengthBytes: number]>([
  [true, [NON_KEY], 4],
  [true, [MESSAGE, NON_KEY, NON_KEY], 4],
  [true, [MESSAGE, NON_KEY], 2],
  [true, [NON_KEY], 1],
  [false, [REFERENCE], 4],
  [false, [MESSAGE, REFERENCE], 2],
  [false, [KEY], 4],
  [false, [MESSAGE], 4],
  [false, [], 4],
])(
  "is %s that nothing depends on a picture of units %j, lengths of %i bytes",
  async (is, headers, lengthBytes) => {
    const description = Uint8Array.from([1, 100, 0, 31, 0xfc | (lengthBytes - 1), 0xe1]);
    for (const given of [description, description.buffer]) {
      const isDisposable = await findDisposable(trackOf(given));
      expect(isDisposable(packet(headers, lengthBytes))).toBe(is);
    }
  },
);

it("can't be told of other codecs", async () => {
  const description = Uint8Array.from([1, 100, 0, 31, 0xff, 0xe1]);
  const isDisposable = await findDisposable(trackOf(description, "hevc"));
  expect(isDisposable(packet([NON_KEY], 4))).toBe(false);
});

it("can't be told of units that begin with start codes, or are cut off", async () => {
  expect((await findDisposable(trackOf()))(packet([NON_KEY], 4))).toBe(false);
  const isDisposable = await findDisposable(trackOf(Uint8Array.from([1, 100, 0, 31, 0xff])));
  const cut = new EncodedPacket(Uint8Array.from([0, 0, 0, 9]), "delta", 0, 0.04);
  expect(isDisposable(cut)).toBe(false);
});
