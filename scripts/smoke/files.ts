import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { photographPath } from "../../tools/sample/images.ts";
import { narrate } from "../../tools/sample/narration.ts";
import { drawText } from "../../tools/sample/text-image.ts";
import { encodeVideo, type Scene } from "../../tools/sample/video.ts";

/** What the film shows: a word of each scene's text, if it has one, and its first second. */
export const SCENES = [
  { start: 0, word: "notebook" },
  { start: 5, word: null },
  { start: 11, word: "pastures" },
  { start: 15, word: null },
] as const;

/** What the film says, and from which second on. */
export const SPEECH = [
  { start: 5.5, text: "The boats are tied up in the harbour for the night." },
  { start: 15.5, text: "A carpenter built this cabin alone." },
] as const;

/** Text of the page. */
export const PAGE = ["LANTERN FESTIVAL", "Riverside Park", "Friday 9 October"];

/** More pixels in a row than Images takes. */
const TOO_WIDE = 12_500;
/** Bytes of a photo that is cut off: its header, and some of its pixels. */
const CUT_OFF_BYTES = 20_000;

/** Files of the smoke test, by what they are for. */
export interface SmokeFiles {
  film: string;
  photo: string;
  page: string;
  /** A JPEG that is cut off. */
  damaged: string;
  /** A PNG that is too wide. */
  wide: string;
}

/** Writes the files into a folder. The same each time, but for `damaged`. */
export async function writeSmokeFiles(folder: string): Promise<SmokeFiles> {
  const at = (name: string) => join(folder, name);
  const paper = { background: "#23395b", color: "#f4efe1" };
  const scenes: Scene[] = [
    { image: await drawText(["ALPINE", "NOTEBOOK"], paper), seconds: 5 },
    { image: photographPath("nagasaki-boats"), seconds: 6, motion: "pan" },
    { image: await drawText(["HIGH", "PASTURES"]), seconds: 4 },
    { image: photographPath("dust-bowl-home"), seconds: 5, motion: "pan" },
  ];
  await encodeVideo(at("film.mp4"), scenes, { audio: await narrate(SPEECH) });
  const photo = await sharp(photographPath("french-alpine-landscape")).jpeg().toBuffer();
  await writeFile(at("photo.jpg"), photo);
  await writeFile(at("page.jpg"), await drawText(PAGE));
  await writeFile(at("damaged.jpg"), photo.subarray(0, CUT_OFF_BYTES));
  const wide = { width: TOO_WIDE, height: 8, channels: 3, background: "#888" } as const;
  await writeFile(at("wide.png"), await sharp({ create: wide }).png().toBuffer());
  return {
    film: at("film.mp4"),
    photo: at("photo.jpg"),
    page: at("page.jpg"),
    damaged: at("damaged.jpg"),
    wide: at("wide.png"),
  };
}
