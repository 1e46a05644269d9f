import { describe, expect, it } from "vitest";
import { requireUnencrypted } from "../../../../src/media/container/open-container.ts";
import { imageOfBytes } from "../../../../src/media/pixels/decode-image.ts";

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

/** Writes an EBML element of less than 127 bytes. */
const element = (id: string, ...content: Buffer[]) => {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from(id, "hex"), Buffer.from([0x80 | body.length]), body]);
};
const webm = (...encoding: Buffer[]) => {
  const entry = element("ae", element("d7", Buffer.from([1])), element("6d80", ...encoding));
  const tracks = element("1654ae6b", entry);
  return imageOfBytes(
    Buffer.concat([element("1a45dfa3"), element("18538067", element("1549a966"), tracks)]),
  );
};
const method = element("5031", Buffer.from([0]));

it("a WebM with an encrypted track is refused by name", async () => {
  const encrypted = webm(element("6240", method, element("5035", element("47e1", method))));
  await expect(requireUnencrypted(encrypted)).rejects.toMatchObject({
    code: "unsupported_codec",
    message: expect.stringContaining("encrypted (DRM)"),
  });
});

it.each([
  ["a WebM with compressed frames", webm(element("6240", method))],
  ["an MP4 in the clear", movie("avc1", "mp4a")],
  ["an MP4 without tracks", movie()],
  ["a cut description", imageOfBytes(box("moov", box("trak", Buffer.alloc(4))))],
  ["another file", imageOfBytes(Buffer.from("\x1aE\xdf\xa3"))],
])("%s isn't refused as encrypted", async (_, file) => {
  await requireUnencrypted(file);
});
