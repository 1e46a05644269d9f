import { fileTypeFromBuffer } from "file-type";
import { AppError } from "../errors.ts";
import { ASSET_TYPES, type AssetType } from "../types.ts";
import { skipXmlProlog } from "../xml-prolog.ts";
import { isTiff, readImageSize, requireDecodable } from "./pixels/image-size.ts";

/** Leading bytes of a file that are enough to sniff its media type. */
export const HEAD_BYTES = 4100;

/** Video containers whose media type isn't under `video/`. */
const ALSO_VIDEO = new Set([
  "application/vnd.ms-asf",
  "application/mxf",
  "application/vnd.rn-realmedia",
]);

/** Media types of sound: what is read as it is, and what the decoder converts. */
const SOUND = new Set(
  (
    "mpeg mp4 x-m4a wav flac ogg aac " +
    "amr aiff ape vnd.dolby.dd-raw wavpack x-caf x-dsf x-ms-asf x-musepack x-voc x-w64"
  )
    .split(" ")
    .map((name) => `audio/${name}`),
);

/** Whether assets of a type have files of a media type. Sound without pictures is a video, too. */
export function isTypeOf(mime: string, assetType: AssetType): boolean {
  return assetType === "video"
    ? mime.startsWith("video/") || ALSO_VIDEO.has(mime) || SOUND.has(mime)
    : imageFormat(mime) !== undefined;
}

/**
 * Returns the media type of a file, by its first `HEAD_BYTES` bytes and never by its name. Throws
 * `not_a_video` or `not_an_image` for another type, and `too_large` for an image of too many
 * pixels.
 */
export async function requireMediaType(head: Uint8Array, assetType: AssetType): Promise<string> {
  const mime = await sniff(head);
  if (mime !== undefined && isTypeOf(mime, assetType)) {
    const size = assetType === "image" ? readImageSize(head) : undefined;
    if (size) requireDecodable(size);
    return mime;
  }
  const code = assetType === "video" ? "not_a_video" : "not_an_image";
  throw new AppError(code, describeFile(head, mime));
}

/** Returns the media type of a file by its signature; undefined for an unknown one. */
async function sniff(head: Uint8Array): Promise<string | undefined> {
  const [mime] = (await fileTypeFromBuffer(head))?.mime.split(";") ?? []; // without its codecs
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  if (mime === undefined) return sniffRare(bytes);
  const isMedia = bytes.toString("latin1", 4, 8) === "ftyp";
  return (isMedia && HEIF_TYPES.find(([brands]) => brands.test(brandsOf(bytes)))?.[1]) || mime;
}

/** Where packets of an MPEG-TS begin that end with a code to correct them (ETSI EN 300 429). */
const CORRECTED_PACKETS = [0, 204, 408];

/**
 * Recognises what signatures leave out: a TIFF whose directory comes later, raw DV by its header
 * block (IEC 61834-2), an MPEG-TS of 204 bytes a packet, large WAVE files, and an MP3 behind zeros.
 */
async function sniffRare(bytes: Buffer): Promise<string | undefined> {
  if (isTiff(bytes)) return "image/tiff";
  if (CORRECTED_PACKETS.every((at) => bytes[at] === 0x47)) return "video/mp2t";
  if (/^1f0700(?:3f|bf)/.test(bytes.toString("hex", 0, 4))) return "video/dv";
  const [form, type] = [bytes.toString("latin1", 0, 4), bytes.toString("latin1", 8, 12)];
  if (form === "RF64" && type === "WAVE") return "audio/wav";
  if (form === "riff") return "audio/x-w64";
  const start = bytes.findIndex((byte) => byte !== 0);
  if (start <= 0) return undefined;
  const { mime } = (await fileTypeFromBuffer(bytes.subarray(start))) ?? {};
  return mime === "audio/mpeg" ? mime : undefined;
}

/** Media types by brands of ISO base media (ISO/IEC 23008-12, 10; AV1 Image File Format, 6). */
const HEIF_TYPES: [brands: RegExp, type: string][] = [
  [/^avis/, "image/avif-sequence"],
  [/ avif/, "image/avif"],
  [/^(?:msf1|hev[cmsx])/, "image/heic-sequence"],
  [/^hei[cmsx]/, "image/heic"],
  [/^(?:mif[123]|miaf|avc[is]|jpeg|j2ki)/, "image/heif"],
];

/** Returns the brands of a file of ISO base media, the major one first. */
function brandsOf(bytes: Buffer): string {
  const end = Math.min(bytes.length, bytes.readUInt32BE(0));
  const brands: string[] = [bytes.toString("latin1", 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(bytes.toString("latin1", at, at + 4));
  return brands.map((brand, i) => (i > 0 ? ` ${brand}` : brand)).join("");
}

/**
 * Determines from the first `HEAD_BYTES` bytes whether a file is a video or an image, and its media
 * type. Throws `unsupported_media_type` for any other file, and `too_large` as `requireMediaType`
 * does.
 */
export async function sniffMediaType(
  head: Uint8Array,
): Promise<{ assetType: AssetType; contentType: string }> {
  const mime = await sniff(head);
  const assetType = mime && ASSET_TYPES.find((type) => isTypeOf(mime, type));
  if (!assetType) throw new AppError("unsupported_media_type", describeFile(head, mime));
  return { assetType, contentType: await requireMediaType(head, assetType) };
}

interface ImageFormat {
  name: string;
  /** What decodes it: the binding IMAGES, or the external decoder. */
  decoder: "IMAGES" | "external";
  /** Whether the image that is decoded is a JPEG in the file: the preview of a camera raw. */
  isRaw?: true;
}

/**
 * Formats by media type. The binding decodes AVIF for Enterprise plans only. In the isolate it
 * would take 340 kB more of the bundle, and more memory than there is for 12 megapixels.
 */
const FORMATS: Readonly<Record<string, ImageFormat>> = {
  "image/jpeg": { name: "JPEG", decoder: "IMAGES" },
  "image/png": { name: "PNG", decoder: "IMAGES" },
  "image/apng": { name: "PNG", decoder: "IMAGES" }, // shown by its default image
  "image/gif": { name: "GIF", decoder: "IMAGES" },
  "image/webp": { name: "WebP", decoder: "IMAGES" },
  "image/heic": { name: "HEIC", decoder: "IMAGES" },
  "image/heic-sequence": { name: "HEIC sequence", decoder: "external" },
  "image/heif": { name: "HEIF", decoder: "IMAGES" },
  "image/avif": { name: "AVIF", decoder: "external" },
  "image/avif-sequence": { name: "animated AVIF", decoder: "external" },
  "image/tiff": { name: "TIFF", decoder: "external" },
  "image/bmp": { name: "BMP", decoder: "external" },
  "image/jp2": { name: "JPEG 2000", decoder: "external" },
  "image/jpx": { name: "JPEG 2000", decoder: "external" },
  "image/j2c": { name: "JPEG 2000", decoder: "external" },
  "image/jxl": { name: "JPEG XL", decoder: "external" },
  "image/vnd.adobe.photoshop": { name: "Photoshop", decoder: "external" },
  "image/x-canon-cr2": { name: "Canon CR2", decoder: "IMAGES", isRaw: true },
  "image/x-nikon-nef": { name: "Nikon NEF", decoder: "IMAGES", isRaw: true },
  "image/x-sony-arw": { name: "Sony ARW", decoder: "IMAGES", isRaw: true },
  "image/x-adobe-dng": { name: "DNG", decoder: "IMAGES", isRaw: true },
  "image/x-fujifilm-raf": { name: "Fujifilm RAF", decoder: "IMAGES", isRaw: true },
};

/** Returns the format of a media type; undefined if images of that type can't be read. */
export function imageFormat(mime: string): ImageFormat | undefined {
  return Object.hasOwn(FORMATS, mime) ? FORMATS[mime] : undefined;
}

const AS_PNG = "save it as PNG or JPEG";
const RESPONSE = "perhaps an error page: open its URL in a browser, and send the file itself";
const OTHER = "send a video or an image";

/** Kinds of files that are refused, by their media types: what they are, and what to do. */
const KINDS: readonly [type: RegExp, name: string, advice: string][] = [
  [/office|opendocument|x-cfb|rtf/, "an Office document", "export it as images, or as an MP4"],
  [/pdf$/, "a PDF document", "export its pages as images"],
  [/postscript|eps$/, "a PostScript file", AS_PNG],
  [/svg/, "a drawing (SVG)", AS_PNG],
  [/zip|rar|x-7z|x-tar/, "an archive", "unpack it, and send the videos and images in it"],
  [/msdownload|x-elf|x-mach/, "a program", OTHER],
  [/html/, "a web page (HTML)", RESPONSE],
  [/(?:json|xml)$/, "data (JSON or XML)", RESPONSE],
  [/mpegurl/, "a playlist of other files", "send the video itself"],
  [/^text\/vtt/, "a subtitle file", "send it as `transcript` with its video"],
  [/^text\//, "a text file", OTHER],
  [/^audio\//, "sound of a kind that isn't read here", "save it as MP3, M4A or WAV"],
  [/^image\//, "an image of a kind that isn't read", AS_PNG],
];

/** Says what a file is that was refused, by its media type and its first bytes, and what to do. */
export function describeFile(head: Uint8Array, mime: string | undefined): string {
  if (head.length === 0) return "The file is empty: send it again.";
  const type = refineType(head, mime);
  if (type === undefined) {
    return "The file is of an unknown format: send a video as MP4, an image as JPEG.";
  }
  if (type.startsWith("video/"))
    return "The file is a video: send it as video_file, to …/video or …/search_video.";
  const format = imageFormat(type);
  if (format)
    return `The file is an image (${format.name}): send it as image_file, to …/image or …/search_image.`;
  const [, name, advice] = KINDS.find(([types]) => types.test(type)) ?? [null, type, OTHER];
  return `The file is ${name}, not a video or an image: ${advice}.`;
}

/** Texts by how they begin, those of XML after its prolog. */
const TEXTS: readonly [beginning: RegExp, type: string][] = [
  [/^<svg[\s>]/i, "image/svg+xml"],
  [/^<MPD[\s>]|^#EXTM3U|^\[playlist\]/i, "application/vnd.apple.mpegurl"],
  [/^<(?:html|head|body)/i, "text/html"],
  [/^WEBVTT|^\d+\r?\n\d\d:\d\d:\d\d[,.]\d{3} --> /, "text/vtt"],
  [/^[{[]/, "application/json"],
  [/^#!/, "application/x-elf"], // a script is a program, too
];

function refineType(head: Uint8Array, mime: string | undefined): string | undefined {
  if (mime === "application/zip") {
    // Parts of an Office file, whose names are in the first bytes of its ZIP archive.
    return /(?:ppt|word|xl)\//.test(Buffer.from(head).toString("latin1")) ? "office" : mime;
  }
  if (mime !== undefined && mime !== "application/xml") return mime;
  const text = decodeText(head)?.trimStart();
  if (text === undefined) return mime;
  if (/^<!doctype html/i.test(text)) return "text/html";
  const content = skipXmlProlog(text);
  const known = TEXTS.find(([beginning]) => beginning.test(content))?.[1];
  return known ?? (text.startsWith("<?xml") ? "application/xml" : "text/plain");
}

function decodeText(head: Uint8Array): string | undefined {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
    const text = decoder.decode(head, { stream: true });
    return /[^\P{Cc}\t\n\r\f]/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
