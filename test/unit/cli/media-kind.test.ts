import { expect, it } from "vitest";
import { mediaKind } from "../../../client/src/cli/media-kind.ts";

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
  ["AVIF, which is refused", bytes("\0\0\0\u0018ftypavif"), null],
  ["M4A, which has no video", bytes("\0\0\0\u0018ftypM4A "), null],
  ["AVI, which isn't supported", bytes("RIFF\0\0\0\0AVI LIST"), null],
  ["text that begins with G", bytes(`G${" ".repeat(399)}`), null],
  ["an empty file", new Uint8Array(), null],
])("the first bytes of %s are of the right kind", (_name, head, kind) => {
  expect(mediaKind(head)).toBe(kind);
});
