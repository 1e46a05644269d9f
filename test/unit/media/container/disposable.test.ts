import { EncodedPacket, type VideoCodec } from "mediabunny";
import { describe, expect, it } from "vitest";
import { makeDisposablePredicate } from "../../../../src/media/container/packets.ts";

const DISPOSABLE_SLICE = 0x01; // nal_ref_idc 0
const REFERENCE_SLICE = 0x41; // nal_ref_idc 2
const KEY_SLICE = 0x65;
const SEI = 0x06; // supplemental enhancement information: no slice

/** Makes a packet of NAL units of three bytes, each after its length. */
function createPacket(headers: number[], lengthBytes: number): EncodedPacket {
  const units = headers.flatMap((header) => [
    ...Array.from({ length: lengthBytes - 1 }, () => 0),
    3,
    header,
    7,
    7,
  ]);
  return new EncodedPacket(Uint8Array.from(units), "delta", 0, 0.04);
}

function createTrack(description?: Uint8Array | ArrayBuffer, codec: VideoCodec = "avc") {
  const config = { codec: "avc1.64001f", ...(description && { description }) };
  return {
    getCodec: () => Promise.resolve(codec),
    getDecoderConfig: () => Promise.resolve(config),
  };
}

describe("isDisposable", () => {
  it.each<[expected: boolean, headers: number[], lengthBytes: number]>([
    [true, [DISPOSABLE_SLICE], 4],
    [true, [SEI, DISPOSABLE_SLICE, DISPOSABLE_SLICE], 4],
    [true, [SEI, DISPOSABLE_SLICE], 2],
    [true, [DISPOSABLE_SLICE], 1],
    [false, [REFERENCE_SLICE], 4],
    [false, [SEI, REFERENCE_SLICE], 2],
    [false, [KEY_SLICE], 4],
    [false, [SEI], 4],
    [false, [], 4],
  ])(
    "is %s for a packet of NAL units with the headers %j and lengths of %i bytes",
    async (expected, headers, lengthBytes) => {
      const description = Uint8Array.from([1, 100, 0, 31, 0xfc | (lengthBytes - 1), 0xe1]);
      for (const bytesOrBuffer of [description, description.buffer]) {
        const isDisposable = await makeDisposablePredicate(createTrack(bytesOrBuffer));
        expect(isDisposable(createPacket(headers, lengthBytes))).toBe(expected);
      }
    },
  );

  it("is false for a track of another codec", async () => {
    const description = Uint8Array.from([1, 100, 0, 31, 0xff, 0xe1]);
    const isDisposable = await makeDisposablePredicate(createTrack(description, "hevc"));
    expect(isDisposable(createPacket([DISPOSABLE_SLICE], 4))).toBe(false);
  });

  it("is false for NAL units with start codes", async () => {
    const isDisposable = await makeDisposablePredicate(createTrack());
    expect(isDisposable(createPacket([DISPOSABLE_SLICE], 4))).toBe(false);
  });

  it("is false for a truncated packet", async () => {
    const description = Uint8Array.from([1, 100, 0, 31, 0xff]);
    const isDisposable = await makeDisposablePredicate(createTrack(description));
    const truncated = new EncodedPacket(Uint8Array.from([0, 0, 0, 9]), "delta", 0, 0.04);
    expect(isDisposable(truncated)).toBe(false);
  });
});
