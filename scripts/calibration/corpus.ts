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
/**
 * Of the photos, how many are in it: as images, shown in films, told in films, written on pages, and
 * both written and told in lectures.
 */
const SHARES = { images: 0.4, shown: 0.15, told: 0.15, written: 0.1, taught: 0.15 };

/**
 * Lays photos and their captions out as an archive: images, films that show one photo while a
 * caption of another is spoken, pages with a caption on them, and lectures: films of such pages while another
 * caption of the photo is spoken. The same photos give the same
 * archive. The last of them are left out.
 */
export async function layOutCorpus(folder: string, photos: CaptionedPhoto[]): Promise<Corpus> {
  await mkdir(folder, { recursive: true });
  const rest = [...photos];
  const deal = (share: number) => rest.splice(0, Math.floor(photos.length * share));
  const images = deal(SHARES.images);
  const [shown, told] = [deal(SHARES.shown), deal(SHARES.told)];
  const [written, taught] = [deal(SHARES.written), deal(SHARES.taught)];
  const slides = shown.slice(0, told.length).map(({ path, captions }, i) => {
    const other = told[i]!.captions;
    return { picture: path, spoken: other[0]!, contents: [captions, other] };
  });
  const films = await layFilms(folder, "film", slides);
  const pages = await layPages(folder, "page", written);
  const taughtPages = await layPages(folder, "slide", taught);
  const lessons = taught.map(({ captions }, i) => {
    return { picture: taughtPages[i]!, spoken: captions[1]!, contents: [captions] };
  });
  const lectures = await layFilms(folder, "lecture", lessons);
  const stills = [...images, ...pages.map((path, i) => ({ path, captions: written[i]!.captions }))];
  return {
    files: [
      ...stills.map(({ path }) => ({ path, kind: "image" as const })),
      ...films.files,
      ...lectures.files,
    ],
    truths: [
      ...stills.map(({ path, captions }) => ({ file: fileOf(path), at: null, captions })),
      ...films.truths,
      ...lectures.truths,
    ],
    absent: rest.flatMap(({ captions }) => captions),
  };
}

/** What is seen and heard for five seconds, and how people described either. */
interface Slide {
  picture: string;
  spoken: string;
  contents: string[][];
}

async function layFilms(folder: string, name: string, slides: Slide[]) {
  const files: MediaFile[] = [];
  const truths: Truth[] = [];
  for (let first = 0; first < slides.length; first += FILM_SLIDES) {
    const file = `${name}-${first / FILM_SLIDES}.mp4`;
    const some = slides.slice(first, first + FILM_SLIDES);
    const scenes = some.map(({ picture }) => ({ picture, seconds: SLIDE_SECONDS }));
    await encodeFilm(join(folder, file), scenes, SCREEN);
    const cues = some.map(({ spoken }, i) => {
      const start = i * SLIDE_SECONDS;
      return { start: start + 0.5, end: start + SLIDE_SECONDS - 0.5, text: spoken };
    });
    const transcript = join(folder, file.replace(".mp4", ".json"));
    await writeFile(transcript, JSON.stringify(cues));
    files.push({ path: join(folder, file), kind: "video", transcript });
    for (const [i, { contents }] of some.entries()) {
      truths.push(
        ...contents.map((captions) => ({ file, at: (i + 0.5) * SLIDE_SECONDS, captions })),
      );
    }
  }
  return { files, truths };
}

/** A page with the first caption of each photo. */
async function layPages(folder: string, name: string, photos: CaptionedPhoto[]): Promise<string[]> {
  const paths: string[] = [];
  for (const [i, { captions }] of photos.entries()) {
    const words = captions[0]!.split(/\s+/);
    const lines = Array.from({ length: Math.ceil(words.length / LINE_WORDS) }, (_, line) =>
      words.slice(line * LINE_WORDS, (line + 1) * LINE_WORDS).join(" "),
    );
    const path = join(folder, `${name}-${i}.jpg`);
    await writeFile(path, await drawWords(lines));
    paths.push(path);
  }
  return paths;
}

function fileOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
