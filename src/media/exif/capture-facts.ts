import { decodeXML } from "entities";
import * as z from "zod";
import { cleanText, toOneLine } from "../../clean-text.ts";
import { line } from "../../description.ts";
import { cleanTitle } from "../../title.ts";
import type { RangedFile } from "../container/mp4-boxes.ts";
import { imageFormat } from "../media-type.ts";
import { findZone, parseTime, parseZone, toUtc } from "./capture-time.ts";
import { findBlocks, type MetadataBlocks } from "./metadata-blocks.ts";
import { findRawPreview } from "./raw-preview.ts";
import {
  type Directory,
  readDirectory,
  readFirstDirectory,
  readNumbers,
  readText,
  SIGNED_RATIONAL,
  slice,
} from "./tiff.ts";

/** Characters of a description, characters of a keyword, and keywords that are kept. */
const [MAX_DESCRIPTION, MAX_KEYWORD, MAX_KEYWORDS] = [2000, 100, 100];

/** When, where and by what an image or a video was taken. Without what isn't known. */
export const captureFacts = z
  .object({
    taken_at: z.iso
      .datetime()
      .max(40)
      .transform((time) => new Date(time).toISOString()),
    camera: line,
    lens: line,
    /** What the file says that it shows: its title, headline and description. */
    description: z.string().max(MAX_DESCRIPTION).transform(cleanText),
    keywords: z.array(line).max(MAX_KEYWORDS),
    /** Degrees, north and east. */
    latitude: z.number().min(-90).max(90),
    longitude: z.number().min(-180).max(180),
    /** Metres above the sea, from the deepest valley to an aeroplane. */
    altitude: z.number().min(-500).max(100_000),
  })
  .partial();
export type CaptureFacts = z.infer<typeof captureFacts>;

/** Facts from the metadata of an image. */
interface ImageTags {
  /** Its directories in one: their tags have numbers of their own. */
  exif: Directory | null;
  /** Properties of its XMP; data sets of its IPTC, as `iptc:55`; the time of its GPS, as `gps`. */
  texts: Map<string, string>;
}

/** Number of a tag in the EXIF, or name of a text. */
type Tag = number | string;

interface TimeTag {
  /** A day, or a day and a time. */
  date: Tag;
  time?: Tag;
  fraction?: Tag;
  zone?: Tag;
}

/**
 * Tags of the time, each before those below it: when it was taken, when it was made digital, and
 * when the file was changed, each by EXIF, IPTC and XMP (Metadata Working Group, 5.2 to 5.4).
 */
const TIME_TAGS: readonly TimeTag[] = [
  { date: 0x9003, fraction: 0x9291, zone: 0x9011 },
  { date: "iptc:55", time: "iptc:60" },
  { date: "exif:DateTimeOriginal" },
  { date: "photoshop:DateCreated" },
  { date: 0x9004, fraction: 0x9292, zone: 0x9012 },
  { date: "iptc:62", time: "iptc:63" },
  { date: "exif:DateTimeDigitized" },
  { date: "xmp:CreateDate" },
  { date: "gps" },
  { date: 0x0132, fraction: 0x9290, zone: 0x9010 },
];
/** Tags that count, each before those after it. */
const MAKE = [0x010f, "tiff:Make"];
const MODEL = [0x0110, "tiff:Model"];
const LENS = [0xa434, "exifEX:LensModel", "aux:Lens"];
const ZONE = [0x9011, 0x9012, 0x9010];
const DESCRIPTION = [
  ["iptc:5", "dc:title", 0x9c9b],
  ["iptc:105", "photoshop:Headline"],
  ["iptc:120", "dc:description", 0x010e, 0x9c9c],
];
/** Tags that count together. */
const KEYWORDS = ["iptc:25", "dc:subject", 0x9c9e];

const EXIF_DIRECTORIES = [0x8769, 0x8825];
/** Tags of a place: each coordinate behind its reference, north or south, east or west. */
const GPS = { latitude: 2, longitude: 4, altitudeRef: 5, altitude: 6, time: 7, date: 29 };
/** EXIF is from strangers: characters of a name that are kept. */
const MAX_CHARACTERS = 100;

/** Reads facts from the metadata of an image. Leaves out damaged and impossible values. */
export async function readImageFacts(file: RangedFile, contentType: string): Promise<CaptureFacts> {
  const tags = await readTags(file, contentType);
  const places = [await readExifPlace(tags), readXmpPlace(tags)];
  const facts = withoutNulls({
    taken_at: await readTakenAt(tags),
    camera: cameraName(await readFirst(tags, MAKE), await readFirst(tags, MODEL)),
    lens: cleanName(await readFirst(tags, LENS)),
    ...toDescription(
      await Promise.all(DESCRIPTION.map((each) => readFirst(tags, each))),
      (await Promise.all(KEYWORDS.map((tag) => readFirst(tags, [tag])))).flatMap((list) =>
        list.split(KEYWORD_END),
      ),
    ),
    ...places.find(({ latitude }) => latitude !== null),
  });
  const isRaw = imageFormat(contentType)?.isRaw ?? false;
  if (!isRaw || Object.keys(facts).length > 0) return facts;
  const preview = await findRawPreview(file);
  return preview ? readImageFacts(slice(file, preview.offset, preview.length), "image/jpeg") : {};
}

type OrNull<T> = { [Name in keyof T]: T[Name] | null };

/** Leaves out what isn't known. */
export function withoutNulls(facts: OrNull<CaptureFacts>): CaptureFacts {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null));
}

async function readTags(file: RangedFile, contentType: string): Promise<ImageTags> {
  const blocks = await findBlocks(file, contentType);
  const exif = blocks.exif ? await readFirstDirectory(blocks.exif) : null;
  for (const tag of EXIF_DIRECTORIES) {
    const [offset] = await readNumbers(exif, tag);
    const directory = offset === undefined ? null : await readDirectory(exif!.tiff, offset);
    for (const [number, entry] of directory?.entries ?? []) exif!.entries.set(number, entry);
  }
  const texts = new Map([...(await readXmp(blocks.xmp)), ...(await readIptc(blocks.iptc))]);
  return { exif, texts: texts.set("gps", await readGpsTime(exif, texts)) };
}

/** Returns the text of the first of some tags that has a letter or digit; "" without any. */
async function readFirst({ exif, texts }: ImageTags, tags: readonly Tag[]): Promise<string> {
  for (const tag of tags) {
    const text = typeof tag === "number" ? await readText(exif, tag) : texts.get(tag);
    if (text && /[\p{L}\p{N}]/u.test(text)) return text.trim();
  }
  return "";
}

/** Bytes of XMP and IPTC that are read. */
const MAX_BLOCK_BYTES = 256 * 1024;
const XMP_VALUE =
  /\b((?:aux|exif|exifEX|photoshop|tiff|xmp):\w{1,40})\s*(?:=\s*["']|>)\s*([^"'<>]{1,100})/g;

/** Elements of XMP that have a list, of alternatives in languages or of keywords. */
const XMP_LISTS = ["dc:title", "dc:description", "dc:subject"];
const XMP_ITEM = /<rdf:li[^<>]{0,100}>([^<>]{1,2000})</g;

/** Reads properties of XMP, elements or attributes, by their usual prefixes. */
async function readXmp(block: MetadataBlocks["xmp"]): Promise<Map<string, string>> {
  const text = new TextDecoder().decode(await block?.read(0, MAX_BLOCK_BYTES));
  const matches = [...text.matchAll(XMP_VALUE)].toReversed();
  const texts = new Map(matches.map(([, name, value]) => [name!, value!])); // the first one counts
  for (const name of XMP_LISTS) {
    const start = text.indexOf(`<${name}>`);
    const list = start < 0 ? "" : text.slice(start, text.indexOf(`</${name}>`, start));
    const items = Array.from(list.matchAll(XMP_ITEM), ([, item]) => decodeXML(item!));
    if (items.length > 0)
      texts.set(name, name === "dc:subject" ? items.join(KEYWORD_END) : items[0]!);
  }
  return texts;
}

/** Reads the data sets of the record 2, which is of the image. */
async function readIptc(block: MetadataBlocks["iptc"]): Promise<Map<string, string>> {
  const bytes = Buffer.from((await block?.read(0, MAX_BLOCK_BYTES)) ?? []);
  const texts = new Map<string, string>();
  for (let at = 0; at + 5 <= bytes.length && bytes[at] === 0x1c;) {
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    if (bytes[at + 1] === 2) {
      const [name, value] = [`iptc:${bytes[at + 2]}`, decodeText(bytes.subarray(at + 5, end))];
      const others = name === "iptc:25" ? texts.get(name) : undefined;
      texts.set(name, others === undefined ? value : others + KEYWORD_END + value);
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

/** Ends a keyword in a list, as Windows writes it. */
const KEYWORD_END = ";";

/** Joins what a file says that it shows, each once. */
export function toDescription(texts: readonly string[], keywords: readonly string[]) {
  const clean = (list: readonly string[], most: number) =>
    [...new Set(list.map((text) => toOneLine(text).slice(0, most).toWellFormed()))].filter(Boolean);
  const description = clean(texts, MAX_DESCRIPTION).join(". ").slice(0, MAX_DESCRIPTION);
  const names = clean(keywords, MAX_KEYWORD).slice(0, MAX_KEYWORDS);
  return { description: description || null, keywords: names.length > 0 ? names : null };
}

async function readTakenAt(tags: ImageTags): Promise<string | null> {
  const gps = parseTime(tags.texts.get("gps")!);
  for (const { date, time = "", fraction = "", zone = ZONE[0]! } of TIME_TAGS) {
    const [clock, digits] = [await readFirst(tags, [time]), await readFirst(tags, [fraction])];
    const text = `${await readFirst(tags, [date])}${clock && `T${clock}`}`;
    const taken = parseTime(/^\d+$/.test(digits) ? `${text}.${digits}` : text);
    if (!taken) continue;
    if (taken.isDay) return toUtc(taken.localMs);
    const minutes =
      taken.zone ??
      parseZone(await readFirst(tags, [zone, ...ZONE])) ??
      (gps && !gps.isDay ? findZone(taken.localMs, gps.localMs) : null) ??
      0;
    return toUtc(taken.localMs - minutes * 60_000);
  }
  return null;
}

/** Returns the time of the satellites, which is UTC. */
async function readGpsTime(exif: Directory | null, texts: ImageTags["texts"]): Promise<string> {
  const date = await readText(exif, GPS.date);
  if (date === "") return texts.get("exif:GPSTimeStamp") ?? "";
  const numbers = await readNumbers(exif, GPS.time);
  const clock = numbers.map((value) => String(Math.floor(value)).padStart(2, "0")).join(":");
  return /^\d\d:\d\d:\d\d$/.test(clock) ? `${date} ${clock}Z` : date;
}

async function readExifPlace({ exif }: ImageTags) {
  const angle = async (tag: number) =>
    toDegrees(await readNumbers(exif, tag), await readText(exif, tag - 1));
  // Some write a height below the sea as a type without a sign.
  const [metres = NaN] = await readNumbers(exif, GPS.altitude, SIGNED_RATIONAL);
  const [isBelow = 0] = await readNumbers(exif, GPS.altitudeRef);
  const altitude = isBelow === 1 ? -Math.abs(metres) : metres;
  return toCoordinates(await angle(GPS.latitude), await angle(GPS.longitude), altitude);
}

/** Reads a place such as `33,51.5S`, `70,30,0W` and `1250/10`. */
function readXmpPlace({ texts }: ImageTags) {
  const text = (name: string) => texts.get(`exif:GPS${name}`) ?? "";
  const angle = (name: string) =>
    toDegrees(text(name).split(",").map(Number.parseFloat), text(name).slice(-1));
  const [metres = NaN, divisor = 1] = text("Altitude").split("/").map(Number.parseFloat);
  const altitude = ((text("AltitudeRef") === "1" ? -1 : 1) * metres) / divisor;
  return toCoordinates(angle("Latitude"), angle("Longitude"), altitude);
}

/** Returns degrees; NaN without them. */
function toDegrees([degrees = NaN, minutes = 0, seconds = 0]: number[], side: string): number {
  return (/^[SW]/.test(side) ? -1 : 1) * (degrees + minutes / 60 + seconds / 3600);
}

/**
 * Returns a place; null for what is impossible, for a coordinate without the other, and for 0, 0,
 * which receivers without a signal write.
 */
export function toCoordinates(latitude: number, longitude: number, altitude: number) {
  const isKnown = latitude !== 0 || longitude !== 0;
  const isPlace = isKnown && captureFacts.safeParse({ latitude, longitude }).success;
  const isAltitude = isPlace && captureFacts.safeParse({ altitude }).success;
  return {
    latitude: isPlace ? round(latitude, 6) : null,
    longitude: isPlace ? round(longitude, 6) : null,
    altitude: isAltitude ? round(altitude, 1) : null,
  };
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** Joins maker and model, unless the model begins with a word of the maker. */
export function cameraName(make: string, model: string): string | null {
  const [maker, name] = [cleanName(make) ?? "", cleanName(model) ?? ""];
  const words = (text: string) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const hasMaker =
    name.toLowerCase().startsWith(maker.toLowerCase()) || words(maker).includes(words(name)[0]!);
  return cleanName(hasMaker && name !== "" ? name : `${maker} ${name}`);
}

function cleanName(text: string): string | null {
  const name = cleanTitle(text).slice(0, MAX_CHARACTERS).toWellFormed().trim();
  return name === "" ? null : name;
}
