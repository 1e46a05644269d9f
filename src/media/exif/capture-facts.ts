import { cleanTitle } from "../../title.ts";
import type { RangedFile } from "../container/mp4-boxes.ts";
import { imageFormat } from "../image-format.ts";
import { findExif } from "./exif-block.ts";
import { findRawPreview } from "./raw-preview.ts";
import {
  type Directory,
  openTiff,
  readDirectory,
  readNumbers,
  readText,
  slice,
  type Tiff,
} from "./tiff.ts";

/** When, where and by what an image or a video was taken. Without what isn't known. */
export interface CaptureFacts {
  /** RFC 3339, UTC. */
  taken_at?: string;
  camera?: string;
  lens?: string;
  /** Degrees, north and east. */
  latitude?: number;
  longitude?: number;
  /** Metres above the sea. */
  altitude?: number;
}

const TAGS = {
  make: 0x010f,
  model: 0x0110,
  exif: 0x8769,
  gps: 0x8825,
  takenAt: 0x9003,
  timeZone: 0x9011,
  lens: 0xa434,
  latitudeRef: 1,
  latitude: 2,
  longitudeRef: 3,
  longitude: 4,
  altitudeRef: 5,
  altitude: 6,
};
/** Bounds of an altitude, from the deepest valley to an aeroplane. */
const [MIN_ALTITUDE, MAX_ALTITUDE] = [-500, 100_000];
/** Before the first photograph. */
const FIRST_YEAR = 1826;
/** EXIF is from strangers: characters of a name that are kept. */
const MAX_CHARACTERS = 100;

/** Reads what the EXIF of an image says. Leaves out what is damaged or impossible. */
export async function readImageFacts(file: RangedFile, contentType: string): Promise<CaptureFacts> {
  const block = await findExif(file, contentType);
  const facts = block ? await readCaptureFacts(block) : {};
  const isRaw = imageFormat(contentType)?.isRaw ?? false;
  if (!isRaw || Object.keys(facts).length > 0) return facts;
  const preview = await findRawPreview(file);
  return preview ? readImageFacts(slice(file, preview.offset, preview.length), "image/jpeg") : {};
}

/** Reads the facts of an EXIF block, or of a TIFF. */
async function readCaptureFacts(block: RangedFile): Promise<CaptureFacts> {
  const tiff = await openTiff(block);
  const main = tiff && (await readDirectory(tiff, tiff.firstDirectory));
  if (!main) return {};
  const [exif, gps] = await Promise.all(
    [TAGS.exif, TAGS.gps].map(async (tag) => {
      const [offset] = await readNumbers(tiff, main, tag);
      return offset === undefined ? null : readDirectory(tiff, offset);
    }),
  );
  const text = async (directory: Directory | null | undefined, tag: number) =>
    directory ? readText(tiff, directory, tag) : "";
  return withoutNulls({
    taken_at: parseExifTime(await text(exif, TAGS.takenAt), await text(exif, TAGS.timeZone)),
    camera: cameraName(await text(main, TAGS.make), await text(main, TAGS.model)),
    lens: cleanName(await text(exif, TAGS.lens)),
    ...(gps && (await readCoordinates(tiff, gps))),
  });
}

type OrNull<T> = { [Name in keyof T]: T[Name] | null };

/** Leaves out what isn't known. */
export function withoutNulls(facts: OrNull<CaptureFacts>): CaptureFacts {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null));
}

async function readCoordinates(tiff: Tiff, gps: Directory) {
  const [latitude, longitude] = await Promise.all([
    readAngle(tiff, gps, TAGS.latitude, TAGS.latitudeRef, "S"),
    readAngle(tiff, gps, TAGS.longitude, TAGS.longitudeRef, "W"),
  ]);
  const [height = NaN] = await readNumbers(tiff, gps, TAGS.altitude);
  const [isBelow = 0] = await readNumbers(tiff, gps, TAGS.altitudeRef);
  return toCoordinates(latitude, longitude, isBelow === 1 ? -height : height);
}

/** Returns a place; null for what is impossible, or for a coordinate without the other. */
export function toCoordinates(latitude: number, longitude: number, altitude: number) {
  const isPlace = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  const isAltitude = altitude >= MIN_ALTITUDE && altitude <= MAX_ALTITUDE;
  return {
    latitude: isPlace ? round(latitude, 6) : null,
    longitude: isPlace ? round(longitude, 6) : null,
    altitude: isPlace && isAltitude ? round(altitude, 1) : null,
  };
}

/** Returns degrees; NaN without them. `negative` is the reference of the south or the west. */
async function readAngle(
  tiff: Tiff,
  gps: Directory,
  tag: number,
  refTag: number,
  negative: string,
): Promise<number> {
  const [degrees = NaN, minutes = 0, seconds = 0] = await readNumbers(tiff, gps, tag);
  const sign = (await readText(tiff, gps, refTag)).startsWith(negative) ? -1 : 1;
  return sign * (degrees + minutes / 60 + seconds / 3600);
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** Converts `2024:06:01 12:30:00` and `+02:00` to UTC. A time without a zone counts as UTC. */
export function parseExifTime(text: string, zone: string): string | null {
  const parts = /^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d:\d\d:\d\d)/.exec(text);
  if (!parts) return null;
  const local = `${parts[1]}-${parts[2]}-${parts[3]}T${parts[4]}`;
  const exists = toTime(`${local}Z`)?.startsWith(local) ?? false; // unlike 31 February
  const offset = /^[+-](?:0\d|1[0-4]):[0-5]\d$/.test(zone) ? zone : "Z";
  return exists ? toTime(local + offset) : null;
}

/** Returns a time as UTC; null for one that doesn't exist, and for one before photography. */
export function toTime(text: string | number): string | null {
  const time = new Date(text);
  const year = time.getUTCFullYear();
  return year >= FIRST_YEAR && year <= 9999 ? time.toISOString() : null;
}

/** Joins maker and model, unless the model names the maker. */
export function cameraName(make: string, model: string): string | null {
  const [maker, name] = [cleanName(make) ?? "", cleanName(model) ?? ""];
  const hasMaker = name.toLowerCase().startsWith(maker.toLowerCase());
  return cleanName(hasMaker ? name : `${maker} ${name}`);
}

function cleanName(text: string): string | null {
  const name = cleanTitle(text).slice(0, MAX_CHARACTERS).toWellFormed().trim();
  return name === "" ? null : name;
}
