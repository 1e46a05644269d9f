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
