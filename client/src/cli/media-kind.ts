/** Bytes of a file that `mediaKind` needs. */
export const HEAD_BYTES = 400;

/** Brands of HEIF and AVIF images. */
const IMAGE_BRANDS = new Set("avif avis heic heix heim heis hevc hevx mif1 msf1".split(" "));
/** Beginnings of TIFFs, camera raws, Photoshop files, JPEG 2000 and JPEG XL. */
const OTHER_IMAGES = [
  "II*\0",
  "MM\0*",
  "FUJIFILMCCD-RAW",
  "8BPS",
  "\0\0\0\u000CjP  ",
  "\u00FFO\u00FFQ",
  "\0\0\0\u000CJXL ",
  "\u00FF\n",
];
/** Extensions of images, for URLs whose bytes aren't at hand. */
export const IMAGE_EXTENSION =
  /\.(?:jpe?g|png|gif|webp|heic|heif|hif|avif|tiff?|bmp|jp2|j2k|jpx|jxl|psd|dng|cr2|nef|arw|raf)$/i;
/** Boxes that a QuickTime file without `ftyp` begins with. */
const QUICKTIME_BOXES = new Set(["moov", "mdat", "wide", "free", "skip"]);
const TS_SYNC = 0x47;

/**
 * Tells a video or an image that the service may take from its first bytes; null for the rest.
 * Sound without pictures is a video, too.
 */
export function mediaKind(head: Uint8Array): "video" | "image" | null {
  const text = (start: number, length: number) =>
    String.fromCharCode(...head.subarray(start, start + length));
  if (text(0, 3) === "\u00FF\u00D8\u00FF" || text(0, 4) === "\u0089PNG") return "image";
  if (text(0, 4) === "GIF8" || (text(0, 4) === "RIFF" && text(8, 4) === "WEBP")) return "image";
  if (text(4, 4) === "ftyp") {
    return IMAGE_BRANDS.has(text(8, 4)) ? "image" : "video";
  }
  if (OTHER_IMAGES.some((start) => text(0, start.length) === start)) return "image";
  const isBitmap = text(0, 2) === "BM" && text(6, 4) === "\0\0\0\0"; // reserved bytes
  if (isBitmap) return "image";
  if (QUICKTIME_BOXES.has(text(4, 4))) return "video";
  if (text(0, 4) === "\u001A\u0045\u00DF\u00A3") return "video"; // Matroska, WebM
  return isTransportStream(head) || isSound(text, head) ? "video" : null;
}

/** Whether a file begins as WAV, FLAC, Ogg, or as MP3 or ADTS, with a tag in front or without. */
function isSound(text: (start: number, length: number) => string, head: Uint8Array): boolean {
  if (text(0, 4) === "RIFF" && text(8, 4) === "WAVE") return true;
  if (text(0, 4) === "fLaC" || text(0, 4) === "OggS" || text(0, 3) === "ID3") return true;
  const [sync = 0, version = 0] = head; // 11 bits, then version and layer, of which layer I is rare
  return sync === 0xff && version >> 5 === 7 && (version >> 3) % 4 !== 1 && (version & 6) !== 6;
}

/** Looks for the sync bytes of MPEG-TS, also with the four bytes that M2TS adds to each packet. */
function isTransportStream(head: Uint8Array): boolean {
  const isSync = (...positions: number[]) => positions.every((at) => head[at] === TS_SYNC);
  return isSync(0, 188) || isSync(4, 196);
}
