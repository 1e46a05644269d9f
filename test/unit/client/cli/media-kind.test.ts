import { expect, it } from "vitest";
import { mediaKind } from "../../../../client/src/cli/media-kind.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const hex = (text: string) => Uint8Array.from(Buffer.from(text, "hex"));
const packets = (start: number, size: number) => {
  const head = new Uint8Array(400);
  for (let at = start; at < head.length; at += size) head[at] = 0x47;
  return head;
};

it.each([
  ["MP4", bytes("\0\0\0\u0018ftypisom"), "video"],
  ["QuickTime", bytes("\0\0\0\u0014ftypqt  "), "video"],
  ["QuickTime without ftyp", bytes("\0\0\u0010\0moov\0\0"), "video"],
  ["Matroska", hex("1A45DFA38B4282886D6174726F736B61"), "video"],
  ["MPEG-TS", packets(0, 188), "video"],
  ["M2TS", packets(4, 192), "video"],
  ["JPEG", bytes("\u00FF\u00D8\u00FF\u00E0"), "image"],
  [
    "PNG",
    hex("89504E470D0A1A0A0000000D49484452000000010000000108060000001F15C4890000000049444154"),
    "image",
  ],
  ["GIF", bytes("GIF89a"), "image"],
  ["WebP", bytes("RIFF\0\0\0\0WEBPVP8 "), "image"],
  ["AVIF", bytes("\0\0\0\u0018ftypavif"), "image"],
  ["HEIC", bytes("\0\0\0\u0018ftypheic"), "image"],
  ["a TIFF or a raw", bytes("II*\0\u0008\0\0\0"), "image"],
  ["a TIFF of a Mac", bytes("MM\0*\0\0\0\u0008"), "image"],
  ["BMP", bytes("BM\u0001\u0002\0\0\0\0\0\0"), "image"],
  ["JPEG 2000", hex("0000000C6A5020200D0A870A00000014667479706A703220"), "image"],
  ["JPEG XL", bytes("\u00FF\n\u0001"), "image"],
  ["JPEG XL in a container", hex("0000000C4A584C200D0A870A"), "image"],
  ["Photoshop", bytes("8BPS\0\u0001"), "image"],
  ["a Fujifilm raw", bytes("FUJIFILMCCD-RAW 0201"), "image"],
  ["text that begins with BM", bytes("BMW and Audi"), null],
  ["M4A", bytes("\0\0\0\u0018ftypM4A "), "video"],
  ["WAV", bytes("RIFF\0\0\0\0WAVEfmt "), "video"],
  ["FLAC", bytes("fLaC\0\0\0\u0022"), "video"],
  ["Ogg", bytes(`OggS${"\0".repeat(24)}\u0001vorbis${"\0".repeat(8)}`), "video"],
  ["MP3 with a tag", hex("49443304000000000000FFFB9000"), "video"],
  ["MP3", bytes("\u00FF\u00FB\u0090"), "video"],
  ["ADTS", bytes("\u00FF\u00F1\u0050"), "video"],
  ["text in UTF-16", bytes("\u00FF\u00FEa\0"), null],
  ["AVI", bytes("RIFF\0\0\0\0AVI LIST"), "video"],
  ["FLV", bytes("FLV\u0001\u0005"), "video"],
  ["MPEG-PS", bytes("\0\0\u0001\u00BA\u0044"), "video"],
  ["raw DV", bytes("\u001F\u0007\0\u00BF"), "video"],
  ["RealMedia", bytes(".RMF\0\0\0\u0012"), "video"],
  ["WMV", bytes("\u0030\u0026\u00B2\u0075\u008E\u0066\u00CF\u0011\u00A6\u00D9"), "video"],
  ["MXF", hex("060E2B34020501010D010201010200"), "video"],
  ["AMR", bytes("#!AMR\n\u003C"), "video"],
  ["AIFF", bytes("FORM\0\0\0\0AIFF"), "video"],
  ["MIDI", bytes("MThd\0\0\0\u0006"), null],
  ["text that begins with G", bytes(`G${" ".repeat(399)}`), null],
  ["an empty file", new Uint8Array(), null],
])("the first bytes of %s are of the right kind", async (_name, head, kind) => {
  expect(await mediaKind(head)).toBe(kind);
});
