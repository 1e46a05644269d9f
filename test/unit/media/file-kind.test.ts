import { describe, expect, it } from "vitest";
import { requireMediaType, sniffMediaType } from "../../../src/media/media-type.ts";
import { png } from "../../support/image-headers.ts";

/** A ZIP archive whose first files have these names. */
const zip = (...names: string[]) =>
  Buffer.concat(
    names.map((name) => {
      const header = Buffer.alloc(30);
      header.write("PK\x03\x04", "latin1");
      header.writeUInt16LE(name.length, 26);
      return Buffer.concat([header, Buffer.from(name)]);
    }),
  );

const FILES: [title: string, bytes: Uint8Array, kind: string, advice: string][] = [
  ["an empty file", Buffer.alloc(0), "empty", "send it again"],
  ["noise", Buffer.from("a7f39d01e2", "hex"), "of an unknown format", "MP4"],
  ["PowerPoint", zip("_rels/.rels", "ppt/presentation.xml"), "an Office document", "export"],
  ["Word", zip("docProps/app.xml", "word/document.xml"), "an Office document", "export"],
  ["Excel", zip("_rels/.rels", "xl/workbook.xml"), "an Office document", "export"],
  ["old Office", Buffer.from("d0cf11e0a1b11ae1", "hex"), "an Office document", "export"],
  ["a ZIP archive", zip("holiday/a.txt"), "an archive", "unpack"],
  ["PDF", Buffer.from("%PDF-1.7\n"), "a PDF document", "pages as images"],
  ["HTML", Buffer.from("\n<!DOCTYPE html><html>"), "a web page (HTML)", "error page"],
  ["JSON", Buffer.from('{"error": "expired"}'), "data (JSON or XML)", "error page"],
  ["XML", Buffer.from("<?xml version='1.0'?><Error/>"), "data (JSON or XML)", "error page"],
  ["a playlist", Buffer.from("#EXTM3U\n#EXT-X-VERSION:3"), "a playlist", "video itself"],
  ["a DASH manifest", Buffer.from('<?xml version="1.0"?>\n<MPD>'), "a playlist", "video itself"],
  ["SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg">'), "a drawing (SVG)", "PNG"],
  ["SVG in XML", Buffer.from('<?xml version="1.0"?><!-- x --><svg>'), "a drawing (SVG)", "PNG"],
  ["subtitles", Buffer.from("1\n00:00:01,000 --> 00:00:02,000\nHi"), "a subtitle", "transcript"],
  ["text", Buffer.from("\ufeffGrüße aus Bergen"), "a text file", "video or an image"],
  ["a Windows program", Buffer.from("MZ\x90\0\x03\0\0\0", "latin1"), "a program", "video or an"],
  ["a Linux program", Buffer.from("\x7fELF\x02\x01\x01\0", "latin1"), "a program", "video or an"],
  ["a script", Buffer.from("#!/bin/sh\nls"), "a program", "video or an image"],
  [
    "an icon",
    Buffer.from("00000100010010100000", "hex"),
    "an image of a kind that isn't read",
    "PNG",
  ],
];

describe("a file that is neither a video nor an image is named with what to do", () => {
  it.each(FILES)("%s", async (_, bytes, kind, advice) => {
    const message = expect.stringMatching(/^The file is .+: .+\.$/);
    const refused = { message, code: "unsupported_media_type" };
    await expect(sniffMediaType(bytes)).rejects.toMatchObject(refused);
    await expect(sniffMediaType(bytes)).rejects.toThrow(kind);
    await expect(sniffMediaType(bytes)).rejects.toThrow(advice);
    await expect(requireMediaType(bytes, "video")).rejects.toMatchObject({ code: "not_a_video" });
    await expect(requireMediaType(bytes, "image")).rejects.toMatchObject({ code: "not_an_image" });
  });
});

it("an image that is sent as a video is said to be an image", async () => {
  const sent = requireMediaType(png(8, 8), "video");
  await expect(sent).rejects.toThrow(
    "The file is an image (PNG): send it as image_file, to …/image or …/search_image.",
  );
});

it("a video that is sent as an image is said to be a video", async () => {
  const mp4 = Buffer.from("\0\0\0\x14ftypisom\0\0\0\0isom", "latin1");
  const sent = requireMediaType(mp4, "image");
  await expect(sent).rejects.toThrow(
    "The file is a video: send it as video_file, to …/video or …/search_video.",
  );
});

it("a TIFF whose directory comes late is a TIFF, and a text in another encoding is unknown", async () => {
  const tiff = Buffer.concat([Buffer.from("II*\0\0\0\x10\0", "latin1"), Buffer.alloc(4000)]);
  expect(await sniffMediaType(tiff)).toEqual({ assetType: "image", contentType: "image/tiff" });
  const latin1 = sniffMediaType(Buffer.from("Gr\xfc\xdfe", "latin1"));
  await expect(latin1).rejects.toThrow("of an unknown format");
});

const brands = (...names: string[]) => {
  const size = Buffer.from([0, 0, 0, 12 + 4 * names.length]);
  return Buffer.concat([size, Buffer.from(`ftyp${names[0]}\0\0\0\0${names.slice(1).join("")}`)]);
};

it.each<[string, Uint8Array, string]>([
  ["HEIC of several layers", brands("heis", "heis", "mif1"), "image/heic"],
  ["HEIF of later editions", brands("mif2", "mif1", "heic"), "image/heif"],
  ["HEIF with H.264", brands("avci", "mif1"), "image/heif"],
  ["HEIF with JPEG", brands("jpeg", "mif1"), "image/heif"],
  ["a HEIC sequence", brands("hevc", "msf1", "heic"), "image/heic-sequence"],
  ["AVIF", brands("mif1", "avif", "miaf"), "image/avif"],
  ["an animated AVIF", brands("avis", "avif", "msf1"), "image/avif-sequence"],
  ["a video that names a still", brands("isom", "mp42", "mif1"), "video/mp4"],
  ["a WAVE of over 4 GB", Buffer.from("RF64\xff\xff\xff\xffWAVEds64", "latin1"), "audio/wav"],
  ["Sony Wave64", Buffer.from("riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb", "latin1"), "audio/x-w64"],
  [
    "an MP3 behind zeros",
    Buffer.concat([Buffer.alloc(500), Buffer.from("fffb9064".padEnd(2000, "0"), "hex")]),
    "audio/mpeg",
  ],
  [
    "an MPEG-TS whose packets end with 16 bytes more",
    Buffer.concat(Array.from({ length: 4 }, () => Buffer.from("47401110".padEnd(408, "f"), "hex"))),
    "video/mp2t",
  ],
])("%s is told by its first bytes", async (_, bytes, contentType) => {
  expect(await sniffMediaType(bytes)).toMatchObject({ contentType });
});
