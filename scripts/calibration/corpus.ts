import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MediaFile } from "../demo/media-files.ts";
import type { CaptionedPhoto } from "../picture-space/captions.ts";
import { encodeFilm } from "../sample/film.ts";
import { drawWords } from "../sample/words-picture.ts";

/** What people wrote of what a segment shows, says or has written on it: the captions of one photo. */
export interface Truth {
  file: string;
  /** Seconds into the file; null of an image. */
  at: number | null;
  captions: string[];
}

/** Media of every kind whose contents people have described. */
export interface Corpus {
  files: MediaFile[];
  truths: Truth[];
  /** Captions of photos that are nowhere in it. */
  absent: string[];
}

const SLIDE_SECONDS = 5; // a segment each
const FILM_SLIDES = 8;
const SCREEN = { width: 320, height: 320 };
const LINE_WORDS = 4;
/** Of the photos, how many are in it: as images, shown in films, told in films, written on pages. */
const SHARES = { images: 0.45, shown: 0.2, told: 0.2, written: 0.1 };

/**
 * Lays photos and their captions out as an archive: images, films that show one photo while a
 * caption of another is spoken, and pages with a caption on them. The same photos give the same
 * archive. The last of them are left out.
 */
export async function layOutCorpus(folder: string, photos: CaptionedPhoto[]): Promise<Corpus> {
  await mkdir(folder, { recursive: true });
  const rest = [...photos];
  const deal = (share: number) => rest.splice(0, Math.floor(photos.length * share));
  const images = deal(SHARES.images);
  const [shown, told, written] = [deal(SHARES.shown), deal(SHARES.told), deal(SHARES.written)];
  const films = await layFilms(folder, shown, told);
  const pages = await layPages(folder, written);
  return {
    files: [
      ...images.map(({ path }) => ({ path, kind: "image" as const })),
      ...films.files,
      ...pages.files,
    ],
    truths: [
      ...images.map(({ path, captions }) => ({ file: fileOf(path), at: null, captions })),
      ...films.truths,
      ...pages.truths,
    ],
    absent: rest.flatMap(({ captions }) => captions),
  };
}

async function layFilms(folder: string, shown: CaptionedPhoto[], told: CaptionedPhoto[]) {
  const files: MediaFile[] = [];
  const truths: Truth[] = [];
  for (let first = 0; first < Math.min(shown.length, told.length); first += FILM_SLIDES) {
    const file = `film-${first / FILM_SLIDES}.mp4`;
    const slides = shown.slice(first, first + FILM_SLIDES);
    const words = told.slice(first, first + FILM_SLIDES);
    const scenes = slides.map(({ path }) => ({ picture: path, seconds: SLIDE_SECONDS }));
    await encodeFilm(join(folder, file), scenes, SCREEN);
    const cues = words.map(({ captions }, i) => {
      const start = i * SLIDE_SECONDS;
      return { start: start + 0.5, end: start + SLIDE_SECONDS - 0.5, text: captions[0]! };
    });
    const transcript = join(folder, file.replace(".mp4", ".json"));
    await writeFile(transcript, JSON.stringify(cues));
    files.push({ path: join(folder, file), kind: "video", transcript });
    for (const [i, { captions }] of [...slides.entries(), ...words.entries()]) {
      truths.push({ file, at: (i + 0.5) * SLIDE_SECONDS, captions });
    }
  }
  return { files, truths };
}

async function layPages(folder: string, written: CaptionedPhoto[]) {
  const files: MediaFile[] = [];
  const truths: Truth[] = [];
  for (const [i, { captions }] of written.entries()) {
    const file = `page-${i}.jpg`;
    const words = captions[0]!.split(/\s+/);
    const lines = Array.from({ length: Math.ceil(words.length / LINE_WORDS) }, (_, line) =>
      words.slice(line * LINE_WORDS, (line + 1) * LINE_WORDS).join(" "),
    );
    await writeFile(join(folder, file), await drawWords(lines));
    files.push({ path: join(folder, file), kind: "image" });
    truths.push({ file, at: null, captions });
  }
  return { files, truths };
}

function fileOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
