import { decodeXML } from "entities";
import { minOf } from "../../lists.ts";
import type { RangedFile } from "../container/mp4-boxes.ts";
import { type Directory, openTiff } from "./tiff.ts";

/*
 * Metadata of images, wherever a format puts it. Its blocks begin with signatures, by which they
 * are found: XMP is made to be scanned for (ISO 16684-1), EXIF begins with the header of a TIFF
 * (CIPA DC-008), and IPTC with that of an image resource of Photoshop.
 */

/** Number of a tag in the EXIF, or name of a text. */
export type Tag = number | string;

/** Metadata of an image. */
export interface ImageTags {
  /** Its directories in one: their tags have numbers of their own. */
  exif: Directory | null;
  /** Properties of its XMP by their names; data sets of its IPTC, as `iptc:55`. */
  texts: Map<string, string>;
}

/** Separates keywords in a list, as Windows writes it. */
export const LIST_SEPARATOR = ";";
/** Bytes of XMP and IPTC that are read. */
const MAX_BLOCK_BYTES = 256 * 1024;
const [XMP_TAG, IPTC_TAG] = [700, 33723];

/** Reads the metadata of an image, all of it: an image has 20 MiB at most. */
export async function readImageTags(file: RangedFile): Promise<ImageTags> {
  const bytes = await readWhole(file);
  const exif = findExif(bytes);
  const xmp = exif?.bytes(XMP_TAG) ?? from(bytes, bytes.indexOf("<rdf:RDF"));
  const iptc = exif?.bytes(IPTC_TAG) ?? findIptc(bytes);
  return { exif, texts: new Map([...readXmp(xmp), ...readIptc(iptc)]) };
}

/** Returns the text of the first of some tags that has a letter or digit; "" without any. */
export function firstText({ exif, texts }: ImageTags, tags: readonly Tag[]): string {
  for (const tag of tags) {
    const text = typeof tag === "number" ? exif?.text(tag) : texts.get(tag);
    if (text && /[\p{L}\p{N}]/u.test(text)) return text.trim();
  }
  return "";
}

/** Tag of the orientation, which says how the stored pixels are turned. */
const ORIENTATION = 0x0112;

/** Returns the EXIF orientation of an image, from 1 to 8; null if it says none. */
export async function readOrientation(file: RangedFile): Promise<number | null> {
  return findExif(await readWhole(file))?.numbers(ORIENTATION)[0] ?? null;
}

export async function readWhole(file: RangedFile): Promise<Buffer> {
  const { buffer, byteOffset, length } = await file.read(0, file.size);
  return Buffer.from(buffer, byteOffset, length);
}

const HEADERS = ["II*\0", "MM\0*"];
/** Headers that are tried: one may be within pixels, or of an index of several images. */
const MAX_HEADERS = 16;
const [EXIF_DIRECTORY, GPS_DIRECTORY] = [0x8769, 0x8825];
/** Tags of which EXIF has one: of the camera, orientation, time, texts, and other directories. */
const EXIF_TAGS = [
  [0x010e, 0x010f, 0x0110, ORIENTATION, 0x0132, XMP_TAG, IPTC_TAG],
  [EXIF_DIRECTORY, GPS_DIRECTORY, 0x9c9b, 0x9c9c, 0x9c9e],
].flat();

/** Finds the first TIFF in a file, which may be the file, that is EXIF. */
function findExif(bytes: Buffer): Directory | null {
  let at = -1;
  for (let count = 0; count < MAX_HEADERS; count++) {
    at = minOf(HEADERS.map((header) => bytes.indexOf(header, at + 1)).filter((next) => next >= 0));
    if (at === Infinity) return null;
    const tiff = openTiff(bytes.subarray(at));
    const first = tiff?.directory(tiff.firstOffset);
    if (!first || !EXIF_TAGS.some((tag) => first.has(tag))) continue;
    for (const tag of [EXIF_DIRECTORY, GPS_DIRECTORY]) {
      const [offset = 0] = first.numbers(tag);
      first.add(tiff!.directory(offset));
    }
    return first;
  }
  return null;
}

/** Returns the bytes from an offset on; none for a negative one. */
function from(bytes: Buffer, at: number): Buffer {
  return bytes.subarray(at < 0 ? bytes.length : at);
}

/** Header of the image resource that has IPTC. */
const IPTC_HEADER = Buffer.from("8BIM\x04\x04", "latin1");

/** Finds the IPTC in an image resource, which has a number, a name and a size. */
function findIptc(bytes: Buffer): Buffer {
  const block = from(bytes, bytes.indexOf(IPTC_HEADER)).subarray(IPTC_HEADER.length);
  const nameBytes = 1 + (block[0] ?? 0);
  return block.subarray(nameBytes + (nameBytes % 2) + 4);
}

/** Reads the data sets of the record 2, which is of the image (IPTC-NAA IIM 4.2). */
function readIptc(block: Buffer): Map<string, string> {
  const bytes = block.subarray(0, MAX_BLOCK_BYTES);
  const texts = new Map<string, string>();
  for (let at = 0; at + 5 <= bytes.length && bytes[at] === 0x1c;) {
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    if (bytes[at + 1] === 2) {
      const [name, value] = [`iptc:${bytes[at + 2]}`, decodeText(bytes.subarray(at + 5, end))];
      const others = name === "iptc:25" ? texts.get(name) : undefined;
      texts.set(name, others === undefined ? value : others + LIST_SEPARATOR + value);
    }
    at = end;
  }
  return texts;
}

/** Decodes UTF-8, or else the encoding of older programs. */
function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

const XMP_VALUE =
  /\b((?:aux|exif|exifEX|photoshop|tiff|xmp):\w{1,40})\s*(?:=\s*["']|>)\s*([^"'<>]{1,100})/g;
/** Elements of XMP that have a list, of alternatives in languages or of keywords. */
const XMP_LISTS = ["dc:title", "dc:description", "dc:subject"];
const XMP_ITEM = /<rdf:li[^<>]{0,100}>([^<>]{1,2000})</g;

/** Reads properties of XMP, elements or attributes, by their usual prefixes. The first counts. */
function readXmp(block: Buffer): Map<string, string> {
  const whole = block.toString("utf8", 0, MAX_BLOCK_BYTES);
  const end = whole.indexOf("</rdf:RDF>");
  const text = end < 0 ? whole : whole.slice(0, end);
  const matches = [...text.matchAll(XMP_VALUE)].toReversed();
  const texts = new Map(matches.map(([, name, value]) => [name!, value!]));
  for (const name of XMP_LISTS) {
    const start = text.indexOf(`<${name}>`);
    const list = start < 0 ? "" : text.slice(start, text.indexOf(`</${name}>`, start));
    const items = Array.from(list.matchAll(XMP_ITEM), ([, item]) => decodeXML(item!));
    if (items.length > 0)
      texts.set(name, name === "dc:subject" ? items.join(LIST_SEPARATOR) : items[0]!);
  }
  return texts;
}
