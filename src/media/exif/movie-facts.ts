import { BufferSource, Input, type MetadataTags, MP4 } from "mediabunny";
import { readMatroskaInfo } from "../container/matroska.ts";
import {
  findBox,
  findMoov,
  makeBox,
  type Mp4Box,
  type RangedFile,
  readContent,
  rewriteBox,
  readHandler,
} from "../container/mp4-boxes.ts";
import { openInput } from "../container/open-input.ts";
import { fourCc } from "../pixels/image-size.ts";
import { formatTimecode } from "../timecode.ts";
import {
  cameraName,
  type CaptureFacts,
  toCoordinates,
  toDescription,
  withoutNulls,
  parseTime,
  toUtc,
} from "./capture-facts.ts";

const APPLE = "com.apple.quicktime";
/** Names of a time, each before those after it: of QuickTime, broadcast WAVE, AVI and WAV. */
const TIME_NAMES = [`${APPLE}.creationdate`, "\xa9day", "bext", "IDIT", "ICRD"];
/** Texts of what is shown: of QuickTime, iTunes, AVI and WAV. */
const DESCRIPTION_NAMES = [
  `${APPLE}.title`,
  "\xa9nam",
  "INAM",
  `${APPLE}.description`,
  "\xa9des",
  "desc",
  "\xa9cmt",
  "ICMT",
  "chpl",
];
const RIFF_NAMES = new Set([...TIME_NAMES, ...DESCRIPTION_NAMES, "IKEY"]);
/** A place by ISO 6709. */
const PLACE =
  /([+-]\d{2}(?:\.\d{1,9})?)([+-]\d{3}(?:\.\d{1,9})?)([+-]\d{1,6}(?:\.\d{1,9})?)?(?:CRS\w{1,20})?\//;

/**
 * Reads when, where and by what a film or sound was taken, of an MP4, QuickTime, Matroska, AVI or
 * WAV file, and what a file says that it has: its title, description, keywords and chapters.
 */
export async function readMovieFacts(file: RangedFile): Promise<CaptureFacts> {
  const moov = await findMoov(file);
  const texts = moov ? await readMovieTexts(file, moov) : await readRiffTexts(file);
  const either = (ofApple: string, ofOthers: string) =>
    texts.get(`${APPLE}.${ofApple}`) ?? texts.get(ofOthers) ?? "";
  const times = TIME_NAMES.map((name) => parseTime(texts.get(name) ?? ""));
  const time = times.find((each) => each !== null);
  const matroska = await readMatroskaInfo(file);
  const sound = await readSoundTags(file);
  const recordedMs = moov ? await readCreation(file, moov) : matroska.recordedMs;
  const [, latitude, longitude, altitude = NaN] =
    PLACE.exec(either("location.ISO6709", "\xa9xyz")) ?? [];
  return withoutNulls({
    taken_at: toUtc(time ? time.localMs - (time.zone ?? 0) * 60_000 : (recordedMs ?? NaN)),
    camera: cameraName(either("make", "\xa9mak"), either("model", "\xa9mod")),
    ...toDescription(
      [
        matroska.title,
        ...DESCRIPTION_NAMES.map((name) => texts.get(name) ?? ""),
        ...matroska.chapters,
        ...sound.texts,
      ],
      (texts.get("keyw") ?? texts.get("IKEY") ?? sound.genre).split(/[;,]/),
    ),
    ...toCoordinates(Number(latitude), Number(longitude), Number(altitude)),
  });
}

/** Seconds from 1904, the zero of QuickTime, to 1970. */
const QUICKTIME_EPOCH_SECONDS = 2_082_844_800;

/**
 * Reads when the movie or its first track was created (ISO/IEC 14496-12, 8.2.2), in ms. Writers
 * that know no time put zero.
 */
async function readCreation(file: RangedFile, moov: Mp4Box): Promise<number | null> {
  for (const header of [findBox(moov, "mvhd"), findBox(moov, "trak", "tkhd")]) {
    const view = header && (await readContent(file, header, 0, 12));
    if (view?.byteLength !== 12) continue;
    const seconds = view.getUint8(0) === 1 ? Number(view.getBigUint64(4)) : view.getUint32(4);
    if (seconds > QUICKTIME_EPOCH_SECONDS) return (seconds - QUICKTIME_EPOCH_SECONDS) * 1000;
  }
  return null;
}

/** Reads the texts of a movie by their names: of QuickTime's user data, and of keys (`mdta`). */
async function readMovieTexts(file: RangedFile, moov: Mp4Box): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const tracks = moov.children.filter(({ type }) => type === "trak");
  const { raw = {} } = await readLibraryTags(async () => {
    const moovBytes = await rewriteBox(file, moov, new Map(tracks.map((track) => [track, null])));
    const bytes = Buffer.concat([makeBox("ftyp", Buffer.from("isom\0\0\0\0")), moovBytes]);
    return new Input({ source: new BufferSource(bytes), formats: [MP4] });
  });
  for (const [name, value] of Object.entries(raw)) {
    if (typeof value === "string") texts.set(name, value);
    if (name === "chpl" && value instanceof Uint8Array) texts.set(name, readChapterNames(value));
  }
  return texts;
}

/** Reads tags by the container library. Bad ones don't keep a file out: then there are none. */
async function readLibraryTags(open: () => Promise<Input>): Promise<MetadataTags> {
  try {
    using input = await open();
    return await input.getMetadataTags();
  } catch {
    return {};
  }
}

/** Bytes of a box `chpl` before its chapters, of a chapter's time. */
const [CHAPTERS_START, CHAPTER_TIME] = [9, 8];

/** Reads the names of the chapters of a box `chpl`, as sentences. */
function readChapterNames(bytes: Uint8Array): string {
  const content = Buffer.from(bytes);
  const names: string[] = [];
  for (let at = CHAPTERS_START + CHAPTER_TIME; at < content.length;) {
    const end = at + 1 + content[at]!;
    names.push(content.toString("utf8", at + 1, end));
    at = end + CHAPTER_TIME;
  }
  return names.join(". ");
}

const HAS_SOUND_TAGS = /^(?:ID3|fLaC|OggS|\xff[\xe0-\xff])/;

/** Reads the tags of a sound file (ID3, Vorbis comments). */
async function readSoundTags(file: RangedFile): Promise<{ texts: string[]; genre: string }> {
  const isSound = HAS_SOUND_TAGS.test(Buffer.from(await file.read(0, 4)).toString("latin1"));
  const tags = isSound ? await readLibraryTags(() => openInput(file, { start: 0, end: 0 })) : {};
  const { title, artist, album, description, comment, genre = "", raw = {} } = tags;
  const chapters = Object.entries(raw).map(([name, value]) =>
    typeof value === "string" && /^CHAPTER\d{1,3}NAME$/i.test(name) ? value : "",
  );
  const texts = [title, artist, album, description, comment].map((text) => text ?? "");
  return { texts: [...texts, ...chapters], genre };
}

/** Bytes at both ends of a RIFF file in which its texts are, and bytes of a text. */
const [RIFF_BYTES, MAX_RIFF_TEXT_BYTES] = [64 * 1024, 512];

/** Reads the texts of an AVI or WAV file by the names of their chunks, before and behind frames. */
async function readRiffTexts(file: RangedFile): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const head = Buffer.from(await file.read(0, RIFF_BYTES));
  if (!/^(?:RIFF|RF64)$/.test(fourCc(head, 0))) return texts;
  const tail = Buffer.from(await file.read(Math.max(0, file.size - RIFF_BYTES), file.size));
  const frames = head.indexOf("movi");
  const list = Math.max(0, tail.lastIndexOf("LIST"));
  const chunks = Buffer.concat([
    head.subarray(0, frames < 0 ? undefined : frames),
    tail.subarray(list),
  ]);
  for (const name of RIFF_NAMES) {
    const at = chunks.indexOf(name);
    if (at < 0 || at + 8 > chunks.length) continue;
    const length = Math.min(chunks.readUInt32LE(at + 4), MAX_RIFF_TEXT_BYTES);
    const text = chunks.toString("latin1", at + 8, at + 8 + length);
    // A `bext` has a day and a time behind its description and originator (EBU Tech 3285, 2.3).
    const time = name === "bext" ? `${text.slice(320, 330)}T${text.slice(330, 338)}` : text;
    const [inWords] = IN_WORDS.exec(time) ?? [];
    texts.set(name, (inWords && toUtc(Date.parse(`${inWords} UTC`))) ?? time);
  }
  return texts;
}

/** The time of C: `Sat Jun 01 12:30:00 2024`. */
const IN_WORDS = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}/i;

/** Flag of a timecode track whose frame numbers are dropped. */
const DROP_FRAME = 1;

/**
 * Reads the timecode of the first frame of an MP4 or QuickTime file from its track `tmcd`
 * (QuickTime File Format, "Timecode media"), such as `10:00:00:00`, with `;` if it drops frame
 * numbers; nothing without one.
 */
export async function readStartTimecode(file: RangedFile): Promise<{ start_timecode?: string }> {
  const moov = await findMoov(file);
  for (const track of moov?.children.filter(({ type }) => type === "trak") ?? []) {
    if ((await readHandler(file, track)) !== "tmcd") continue;
    const [description, chunks] = ["stsd", "stco"].map((type) =>
      findBox(track, "mdia", "minf", "stbl", type),
    );
    const wide = findBox(track, "mdia", "minf", "stbl", "co64");
    if (!description || !(chunks ?? wide)) return {};
    const entry = await readContent(file, description, 8, 48);
    const offset = await readContent(file, (chunks ?? wide)!, 8, 16);
    if (entry.byteLength < 33 || offset.byteLength < (wide ? 8 : 4)) return {};
    const at = chunks ? offset.getUint32(0) : Number(offset.getBigUint64(0));
    const sample = Buffer.from(await file.read(at, at + 4));
    const fps = entry.getUint32(24) / entry.getUint32(28);
    if (sample.length < 4 || !(fps >= 1 && fps <= 1000)) return {};
    const isDropFrame = (entry.getUint32(20) & DROP_FRAME) !== 0;
    return { start_timecode: formatTimecode(fps, sample.readUInt32BE(0), isDropFrame) };
  }
  return {};
}
