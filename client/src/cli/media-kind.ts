/** Bytes of a file that `mediaKind` needs. */
export const HEAD_BYTES = 400;

/** Brands of images that the service refuses, and of audio. */
const OTHER_BRANDS = new Set("avif,avis,heic,heix,mif1,msf1,M4A ,M4B ,M4P ".split(","));
/** Boxes that a QuickTime file without `ftyp` begins with. */
const QUICKTIME_BOXES = new Set(["moov", "mdat", "wide", "free", "skip"]);
const TS_SYNC = 0x47;

/** Tells a video or an image that the service may take from its first bytes; null for the rest. */
export function mediaKind(head: Uint8Array): "video" | "image" | null {
  const text = (start: number, length: number) =>
    String.fromCharCode(...head.subarray(start, start + length));
  if (text(0, 3) === "\u00FF\u00D8\u00FF" || text(0, 4) === "\u0089PNG") return "image";
  if (text(0, 4) === "GIF8" || (text(0, 4) === "RIFF" && text(8, 4) === "WEBP")) return "image";
  if (text(4, 4) === "ftyp") {
    return OTHER_BRANDS.has(text(8, 4)) ? null : "video";
  }
  if (QUICKTIME_BOXES.has(text(4, 4))) return "video";
  if (text(0, 4) === "\u001A\u0045\u00DF\u00A3") return "video"; // Matroska, WebM
  return isTransportStream(head) ? "video" : null;
}

/** Looks for the sync bytes of MPEG-TS, also with the four bytes that M2TS adds to each packet. */
function isTransportStream(head: Uint8Array): boolean {
  const isSync = (...positions: number[]) => positions.every((at) => head[at] === TS_SYNC);
  return isSync(0, 188) || isSync(4, 196);
}
