import { expect, it } from "vitest";
import { mediaKind } from "../../../../client/src/cli/media-kind.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const packets = (start: number, size: number) => {
  const head = new Uint8Array(400);
  for (let at = start; at < head.length; at += size) head[at] = 0x47;
  return head;
};

it.each([
  ["MP4", bytes("\0\0\0\u0018ftypisom"), "video"],
  ["QuickTime", bytes("\0\0\0\u0014ftypqt  "), "video"],
  ["QuickTime without ftyp", bytes("\0\0\u0010\0moov\0\0"), "video"],
  ["Matroska", bytes("\u001A\u0045\u00DF\u00A3"), "video"],
  ["MPEG-TS", packets(0, 188), "video"],
  ["M2TS", packets(4, 192), "video"],
  ["JPEG", bytes("\u00FF\u00D8\u00FF\u00E0"), "image"],
  ["PNG", bytes("\u0089PNG\r\n"), "image"],
  ["GIF", bytes("GIF89a"), "image"],
  ["WebP", bytes("RIFF\0\0\0\0WEBPVP8 "), "image"],
  ["AVIF", bytes("\0\0\0\u0018ftypavif"), "image"],
  ["HEIC", bytes("\0\0\0\u0018ftypheic"), "image"],
  ["a TIFF or a raw", bytes("II*\0\u0008\0\0\0"), "image"],
  ["a TIFF of a Mac", bytes("MM\0*\0\0\0\u0008"), "image"],
  ["BMP", bytes("BM\u0001\u0002\0\0\0\0\0\0"), "image"],
  ["JPEG 2000", bytes("\0\0\0\u000CjP  \r\n"), "image"],
  ["JPEG XL", bytes("\u00FF\n\u0001"), "image"],
  ["JPEG XL in a container", bytes("\0\0\0\u000CJXL \r\n"), "image"],
  ["Photoshop", bytes("8BPS\0\u0001"), "image"],
  ["a Fujifilm raw", bytes("FUJIFILMCCD-RAW 0201"), "image"],
  ["text that begins with BM", bytes("BMW and Audi"), null],
  ["M4A", bytes("\0\0\0\u0018ftypM4A "), "video"],
  ["WAV", bytes("RIFF\0\0\0\0WAVEfmt "), "video"],
  ["FLAC", bytes("fLaC\0\0\0\u0022"), "video"],
  ["Ogg", bytes("OggS\0\u0002"), "video"],
  ["MP3 with a tag", bytes("ID3\u0004\0"), "video"],
  ["MP3", bytes("\u00FF\u00FB\u0090"), "video"],
  ["ADTS", bytes("\u00FF\u00F1\u0050"), "video"],
  ["text in UTF-16", bytes("\u00FF\u00FEa\0"), null],
  ["AVI, which isn't supported", bytes("RIFF\0\0\0\0AVI LIST"), null],
  ["text that begins with G", bytes(`G${" ".repeat(399)}`), null],
  ["an empty file", new Uint8Array(), null],
])("the first bytes of %s are of the right kind", (_name, head, kind) => {
  expect(mediaKind(head)).toBe(kind);
});
