import { describe, expect, it } from "vitest";
import { requireUnencrypted } from "../../../../src/media/container/encryption.ts";
import { imageOfBytes } from "../../../../src/media/pixels/image-file.ts";

const box = (type: string, content: Buffer) => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(8 + content.length);
  return Buffer.concat([size, Buffer.from(type), content]);
};
const track = (entry: string) => {
  const descriptions = box("stsd", Buffer.concat([Buffer.alloc(8), box(entry, Buffer.alloc(70))]));
  return box("trak", box("mdia", box("minf", box("stbl", descriptions))));
};
const movie = (...entries: string[]) =>
  imageOfBytes(
    Buffer.concat([
      box("ftyp", Buffer.from("M4V \0\0\0\0")),
      box("moov", Buffer.concat(entries.map(track))),
    ]),
  );

describe("an MP4 with an encrypted track is refused by name", () => {
  it.each([["encv"], ["drmi"], ["avc1", "enca"], ["avc1", "drms"]])("%s %s", async (...entries) => {
    await expect(requireUnencrypted(movie(...entries))).rejects.toMatchObject({
      code: "unsupported_codec",
      message: expect.stringContaining("encrypted (DRM)"),
    });
  });
});

it.each([
  ["an MP4 in the clear", movie("avc1", "mp4a")],
  ["an MP4 without tracks", movie()],
  ["a cut description", imageOfBytes(box("moov", box("trak", Buffer.alloc(4))))],
  ["another file", imageOfBytes(Buffer.from("\x1aE\xdf\xa3"))],
])("%s isn't refused as encrypted", async (_, file) => {
  await requireUnencrypted(file);
});
