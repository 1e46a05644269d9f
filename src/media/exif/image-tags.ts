import { decodeXML } from "entities";
import { minOf } from "../../lists.ts";
import type { RangedFile } from "../container/mp4-boxes.ts";

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

const HEADERS = ["II*\0", "MM\0*"] as const;
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
    const exif = new Directory(bytes.subarray(at));
    if (!EXIF_TAGS.some((tag) => exif.has(tag))) continue;
    for (const tag of [EXIF_DIRECTORY, GPS_DIRECTORY]) exif.add(exif.numbers(tag)[0] ?? 0);
    return exif;
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

interface Entry {
  type: number;
  count: number;
  /** Offset of the value in the file. */
  at: number;
}

/** Bytes of a value by its type, 0 for types that aren't read. */
const TYPE_BYTES = [0, 1, 1, 2, 4, 8, 0, 1, 0, 4, 8];
const [ASCII, SHORT, RATIONAL] = [2, 3, 5];
export const SIGNED_RATIONAL = 10;
/** More than a file has, but for hostile ones. */
const [MAX_ENTRIES, MAX_VALUES, MAX_CHARACTERS] = [500, 64, 1000];
/** Tags of Windows, whose texts are bytes of UTF-16. */
const WIDE_TAGS = { first: 0x9c9b, last: 0x9c9f };

/**
 * Values of a TIFF by the numbers of their tags, or of an EXIF block, which is made like one
 * (TIFF 6.0; CIPA DC-008).
 */
class Directory {
  readonly #view: DataView;
  readonly #little: boolean;
  readonly #entries = new Map<number, Entry>();

  /** Reads the first directory of a TIFF, which begins with one of `HEADERS`. */
  constructor(tiff: Buffer) {
    this.#view = new DataView(tiff.buffer, tiff.byteOffset, tiff.length);
    this.#little = tiff[0] === HEADERS[0].charCodeAt(0);
    if (tiff.length >= 8) this.add(this.#view.getUint32(4, this.#little));
  }

  /** Adds the entries of the directory at an offset, none of a damaged one. */
  add(offset: number): void {
    const [view, little] = [this.#view, this.#little];
    const count = offset >= 8 && offset + 2 <= view.byteLength ? view.getUint16(offset, little) : 0;
    const end = offset + 2 + 12 * count;
    if (count > MAX_ENTRIES || end > view.byteLength) return;
    for (let at = offset + 2; at < end; at += 12) {
      const [type, values] = [view.getUint16(at + 2, little), view.getUint32(at + 4, little)];
      const isInline = (TYPE_BYTES[type] ?? 0) * values <= 4;
      const valueAt = isInline ? at + 8 : view.getUint32(at + 8, little);
      this.#entries.set(view.getUint16(at, little), { type, count: values, at: valueAt });
    }
  }

  has(tag: number): boolean {
    return this.#entries.has(tag);
  }

  /**
   * Returns the numbers of a tag, at most 64, of its own type or of the one that is given; none
   * without the tag. A quotient may be NaN.
   */
  numbers(tag: number, type = this.#entries.get(tag)?.type ?? 0): number[] {
    const entry = this.#entries.get(tag);
    const [size, view, little] = [TYPE_BYTES[type] ?? 0, this.#view, this.#little];
    if (!entry || size === 0 || type === ASCII) return [];
    const room = Math.max(0, Math.floor((view.byteLength - entry.at) / size));
    return Array.from({ length: Math.min(entry.count, room, MAX_VALUES) }, (_, i) => {
      const at = entry.at + i * size;
      if (type === SHORT) return view.getUint16(at, little);
      if (type === RATIONAL) return view.getUint32(at, little) / view.getUint32(at + 4, little);
      if (type === SIGNED_RATIONAL)
        return view.getInt32(at, little) / view.getInt32(at + 4, little);
      return size === 4 ? view.getUint32(at, little) : size === 1 ? view.getUint8(at) : NaN;
    });
  }

  /** Returns the text of a tag up to its first NUL, at most 1,000 bytes; "" without the tag. */
  text(tag: number): string {
    const isWide = tag >= WIDE_TAGS.first && tag <= WIDE_TAGS.last;
    const isText = isWide || this.#entries.get(tag)?.type === ASCII;
    const bytes = isText ? this.bytes(tag)?.subarray(0, MAX_CHARACTERS) : undefined;
    return new TextDecoder(isWide ? "utf-16le" : "utf-8").decode(bytes).split("\0", 1)[0]!;
  }

  /** Returns the bytes of a tag; null without the tag. */
  bytes(tag: number): Buffer | null {
    const entry = this.#entries.get(tag);
    if (!entry) return null;
    const { buffer, byteOffset, byteLength } = this.#view;
    const whole = Buffer.from(buffer, byteOffset, byteLength);
    return whole.subarray(entry.at, entry.at + entry.count * (TYPE_BYTES[entry.type] ?? 0));
  }
}
