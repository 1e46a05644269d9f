import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MediaFile } from "../media-files.ts";
import { drawText } from "../sample/text-image.ts";
import { encodeVideo } from "../sample/video.ts";
import type { CaptionedPhoto } from "../training/captions.ts";
import type { Corpus, GroundTruth } from "./judgments.ts";

/** Duration of a slide: one segment. */
const SLIDE_SECONDS = 5;
const SLIDES_PER_VIDEO = 8;
const SCREEN = { width: 320, height: 320 };
const WORDS_PER_LINE = 4;
/**
 * Shares of the photos that appear as images, in videos, as speech in videos, on pages, and both on
 * slides and as speech in lectures.
 */
const SHARES = { images: 0.4, shown: 0.15, spoken: 0.15, written: 0.1, lectured: 0.15 };

/**
 * Writes an archive made of photos and their captions: images; videos that show a photo while a
 * caption of another is spoken; pages with a caption; and lectures, which are videos of such pages
 * with another caption of the same photo as speech. The same photos give the same archive. The last
 * photos are left out.
 */
export async function writeCorpus(folder: string, photos: CaptionedPhoto[]): Promise<Corpus> {
  await mkdir(folder, { recursive: true });
  const remaining = [...photos];
  const takeShare = (share: number) => remaining.splice(0, Math.floor(photos.length * share));
  const images = takeShare(SHARES.images);
  const [shown, spoken] = [takeShare(SHARES.shown), takeShare(SHARES.spoken)];
  const [written, lectured] = [takeShare(SHARES.written), takeShare(SHARES.lectured)];
  const slides = shown.slice(0, spoken.length).map(({ path, captions }, i) => {
    const other = spoken[i]!.captions;
    return { image: path, spoken: other[0]!, contents: [captions, other] };
  });
  const videos = await writeVideos(folder, "video", slides);
  const pages = await writePages(folder, "page", written);
  const lectureSlides = await writePages(folder, "slide", lectured);
  const lectureContents = lectured.map(({ captions }, i) => {
    return { image: lectureSlides[i]!, spoken: captions[1]!, contents: [captions] };
  });
  const lectures = await writeVideos(folder, "lecture", lectureContents);
  const imageFiles = [
    ...images,
    ...pages.map((path, i) => ({ path, captions: written[i]!.captions })),
  ];
  return {
    files: [
      ...imageFiles.map(({ path }) => ({ path, kind: "image" as const })),
      ...videos.files,
      ...lectures.files,
    ],
    truths: [
      ...imageFiles.map(({ path, captions }) => ({ file: fileName(path), at: null, captions })),
      ...videos.truths,
      ...lectures.truths,
    ],
    absentCaptions: remaining.flatMap(({ captions }) => captions),
  };
}

/** Image and speech of a slide, and the captions that describe them. */
interface Slide {
  image: string;
  spoken: string;
  contents: string[][];
}

async function writeVideos(folder: string, name: string, slides: Slide[]) {
  const files: MediaFile[] = [];
  const truths: GroundTruth[] = [];
  for (let first = 0; first < slides.length; first += SLIDES_PER_VIDEO) {
    const file = `${name}-${first / SLIDES_PER_VIDEO}.mp4`;
    const videoSlides = slides.slice(first, first + SLIDES_PER_VIDEO);
    const scenes = videoSlides.map(({ image }) => ({ image, seconds: SLIDE_SECONDS }));
    await encodeVideo(join(folder, file), scenes, SCREEN);
    const cues = videoSlides.map(({ spoken }, i) => {
      const start = i * SLIDE_SECONDS;
      return { start: start + 0.5, end: start + SLIDE_SECONDS - 0.5, text: spoken };
    });
    const transcript = join(folder, file.replace(".mp4", ".json"));
    await writeFile(transcript, JSON.stringify(cues));
    files.push({ path: join(folder, file), kind: "video", transcript });
    for (const [i, { contents }] of videoSlides.entries()) {
      truths.push(
        ...contents.map((captions) => ({ file, at: (i + 0.5) * SLIDE_SECONDS, captions })),
      );
    }
  }
  return { files, truths };
}

/** Writes a page with the first caption of each photo. */
async function writePages(
  folder: string,
  name: string,
  photos: CaptionedPhoto[],
): Promise<string[]> {
  const paths: string[] = [];
  for (const [i, { captions }] of photos.entries()) {
    const words = captions[0]!.split(/\s+/);
    const lines = Array.from({ length: Math.ceil(words.length / WORDS_PER_LINE) }, (_, line) =>
      words.slice(line * WORDS_PER_LINE, (line + 1) * WORDS_PER_LINE).join(" "),
    );
    const path = join(folder, `${name}-${i}.jpg`);
    await writeFile(path, await drawText(lines));
    paths.push(path);
  }
  return paths;
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
