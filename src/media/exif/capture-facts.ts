import * as z from "zod";
import { cleanTitle } from "../../asset-names.ts";
import { cleanText, toOneLine } from "../../clean-text.ts";
import { line } from "../../description.ts";
import type { RangedFile } from "../container/mp4-boxes.ts";
import { imageFormat } from "../media-type.ts";
import {
  firstText,
  type ImageTags,
  LIST_SEPARATOR,
  readImageTags,
  type Tag,
  SIGNED_RATIONAL,
} from "./image-tags.ts";
import { findRawPreview, slice } from "./raw-preview.ts";

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

interface TimeTag {
  /** A day, or a day and a time. */
  date: Tag;
  time?: Tag;
  fraction?: Tag;
  zone?: Tag;
}

/** The day and the clock of satellites together. */
const GPS_TIME = "gps";
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
  { date: GPS_TIME },
  { date: 0x0132, fraction: 0x9290, zone: 0x9010 },
];
/** Tags that count, each before those after it. */
const MAKE = [0x010f, "tiff:Make"];
const MODEL = [0x0110, "tiff:Model"];
const LENS = [0xa434, "exifEX:LensModel", "aux:Lens"];
const ZONE_TAGS = [0x9011, 0x9012, 0x9010];
const DESCRIPTION = [
  ["iptc:5", "dc:title", 0x9c9b],
  ["iptc:105", "photoshop:Headline"],
  ["iptc:120", "dc:description", 0x010e, 0x9c9c],
];
/** Tags that count together. */
const KEYWORDS = ["iptc:25", "dc:subject", 0x9c9e];

/** Tags of a place: each coordinate behind its reference, north or south, east or west. */
const GPS = { latitude: 2, longitude: 4, altitudeRef: 5, altitude: 6, time: 7, date: 29 };
/** EXIF is from strangers: characters of a name that are kept. */
const MAX_CHARACTERS = 100;

/** Reads facts from the metadata of an image. Leaves out damaged and impossible values. */
export async function readImageFacts(file: RangedFile, contentType: string): Promise<CaptureFacts> {
  const tags = await readImageTags(file);
  const first = (names: readonly Tag[]) => firstText(tags, names);
  const facts = withoutNulls({
    taken_at: takenAt(tags),
    camera: cameraName(first(MAKE), first(MODEL)),
    lens: cleanName(first(LENS)),
    ...toDescription(
      DESCRIPTION.map(first),
      KEYWORDS.flatMap((name) => first([name]).split(LIST_SEPARATOR)),
    ),
    ...[exifPlace(tags), xmpPlace(tags)].find(({ latitude }) => latitude !== null),
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

/** Joins what a file says that it shows, each once. */
export function toDescription(texts: readonly string[], keywords: readonly string[]) {
  const clean = (list: readonly string[], most: number) =>
    [...new Set(list.map((text) => toOneLine(text).slice(0, most).toWellFormed()))].filter(Boolean);
  const description = clean(texts, MAX_DESCRIPTION).join(". ").slice(0, MAX_DESCRIPTION);
  const names = clean(keywords, MAX_KEYWORD).slice(0, MAX_KEYWORDS);
  return { description: description || null, keywords: names.length > 0 ? names : null };
}

function takenAt(tags: ImageTags): string | null {
  const text = (tag: Tag) => firstText(tags, [tag]);
  const satellites = parseTime(gpsTime(tags));
  for (const { date, time = "", fraction = "", zone = ZONE_TAGS[0]! } of TIME_TAGS) {
    const [clock, digits] = [text(time), text(fraction)];
    const stated = date === GPS_TIME ? gpsTime(tags) : `${text(date)}${clock && `T${clock}`}`;
    const taken = parseTime(/^\d+$/.test(digits) ? `${stated}.${digits}` : stated);
    if (!taken) continue;
    if (taken.isDay) return toUtc(taken.localMs);
    const minutes =
      taken.zone ??
      parseZone(firstText(tags, [zone, ...ZONE_TAGS])) ??
      (satellites && !satellites.isDay ? findZone(taken.localMs, satellites.localMs) : null) ??
      0;
    return toUtc(taken.localMs - minutes * 60_000);
  }
  return null;
}

/** Returns the time of the satellites, which is UTC. */
function gpsTime(tags: ImageTags): string {
  const date = firstText(tags, [GPS.date]);
  if (date === "") return firstText(tags, ["exif:GPSTimeStamp"]);
  const numbers = tags.exif!.numbers(GPS.time);
  const clock = numbers.map((value) => String(Math.floor(value)).padStart(2, "0")).join(":");
  return /^\d\d:\d\d:\d\d$/.test(clock) ? `${date} ${clock}Z` : date;
}

function exifPlace({ exif }: ImageTags) {
  const angle = (tag: number) => toDegrees(exif?.numbers(tag) ?? [], exif?.text(tag - 1) ?? "");
  // Some write a height below the sea as a type without a sign.
  const [metres = NaN] = exif?.numbers(GPS.altitude, SIGNED_RATIONAL) ?? [];
  const [isBelow = 0] = exif?.numbers(GPS.altitudeRef) ?? [];
  const altitude = isBelow === 1 ? -Math.abs(metres) : metres;
  return toCoordinates(angle(GPS.latitude), angle(GPS.longitude), altitude);
}

/** Reads a place such as `33,51.5S`, `70,30,0W` and `1250/10`. */
function xmpPlace({ texts }: ImageTags) {
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

/** A time as a file writes it. */
export interface LocalTime {
  /** Milliseconds since 1970, as if the zone were UTC. */
  localMs: number;
  /** Minutes that the zone is ahead of UTC; null if the file doesn't say. */
  zone: number | null;
  /** Whether it is a day without a time. */
  isDay: boolean;
}

/** Before the first photograph. */
const FIRST_YEAR = 1826;
/** Minutes of the world's zones: whole hours, and others. */
const ZONES = Array.from({ length: 27 }, (_, i) => 60 * (i - 12));
ZONES.push(-570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765, 825);

const DATE = String.raw`(?<year>\d{4})[:\-_/. ]?(?<month>\d\d)[:\-_/. ]?(?<day>\d\d)`;
const SECONDS = String.raw`(?<seconds>\d\d)(?:[.,](?<fraction>\d{1,9}))?`;
const CLOCK = String.raw`(?<hours>\d\d)(?<between>[:\-_. ]?)(?<minutes>\d\d)(?:\k<between>${SECONDS})?`;
const ZONE = String.raw`(?<zone>Z|[+-]\d{1,2}(?::?\d\d)?)`;
const TIME = new RegExp(`^${DATE}(?:[T ]${CLOCK} ?${ZONE}?)?`);

/**
 * Parses a day, or a time with or without a zone, as EXIF, XMP, IPTC and recorders of sound write
 * it: `2024:06:01 12:30:00.25+02:00`, `20240601T123000`. Returns null for other text, and for a
 * time that doesn't exist or was before photography.
 */
export function parseTime(text: string): LocalTime | null {
  const parts = TIME.exec(text.trim())?.groups;
  if (!parts) return null;
  const { year, month, day, hours = "00", minutes = "00", seconds = "00" } = parts;
  const { fraction = "", zone = "" } = parts;
  const clock = `${year}-${month}-${day}T${hours}:${minutes}:${seconds}`;
  const localMs = Date.parse(`${clock}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
  const exists = toUtc(localMs)?.startsWith(clock) ?? false; // unlike 31 February
  return exists ? { localMs, zone: parseZone(zone), isDay: !parts["hours"] } : null;
}

/** Parses `+02:00`, `+0200`, `+2` or `Z` as minutes; null for other text. */
export function parseZone(text: string): number | null {
  if (text === "Z") return 0;
  const [, sign, hours, minutes = "0"] = /^([+-])(\d{1,2}):?([0-5]\d)?$/.exec(text.trim()) ?? [];
  if (!hours || Number(hours) > 14) return null;
  return (sign === "-" ? -1 : 1) * (60 * Number(hours) + Number(minutes));
}

/**
 * Returns the zone in which a clock shows `localMs` at `utcMs`, which may be some minutes older;
 * null if there is none.
 */
export function findZone(localMs: number, utcMs: number): number | null {
  const minutes = (localMs - utcMs) / 60_000;
  const distance = (zone: number) => Math.abs(zone - minutes);
  const zone = ZONES.reduce((best, each) => (distance(each) < distance(best) ? each : best));
  return distance(zone) <= 30 ? zone : null;
}

/** Returns a time in RFC 3339, UTC; null for one before photography. */
export function toUtc(ms: number): string | null {
  const time = new Date(ms);
  const year = time.getUTCFullYear();
  return year >= FIRST_YEAR && year <= 9999 ? time.toISOString() : null;
}
