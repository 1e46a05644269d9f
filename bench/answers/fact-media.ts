import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Fact, Facts } from "../../tools/facts/facts.ts";
import type { MediaFile } from "../../tools/media-files.ts";
import { photographPath } from "../../tools/sample/images.ts";
import { drawText } from "../../tools/sample/text-image.ts";
import { encodeVideo } from "../../tools/sample/video.ts";
import type { AnswerCase, Moment } from "./case.ts";

/** Media files that state facts, and questions about them. */
export interface FactMedia {
  files: MediaFile[];
  cases: AnswerCase[];
}

/** Share of the facts that are spoken; the others are written on pages. */
const SPOKEN_SHARE = 2 / 3;
const FACTS_PER_VIDEO = 8;
/** Number of facts on each page, in a cycle. */
const PAGE_FACTS = [1, 2, 1];
const WORDS_PER_LINE = 5;
const SCREEN = { width: 320, height: 180, fps: 10 };
const LETTERS_PER_SECOND = 15;
const PAUSE_SECONDS = 0.4;
const PHOTOS = [
  "nagasaki-boats",
  "airplane-from-above",
  "french-alpine-landscape",
  "allium-oreophilum",
  "dust-bowl-home",
] as const;
/** Sentences that the narrator says between facts. */
const FILLERS = [
  "And now to something else entirely.",
  "Thank you for staying with us.",
  "More about that later in the programme.",
  "Many people have asked us about this.",
  "Here is what we found on our journey.",
];

/**
 * Writes the facts into `folder`: as narration of videos that show unrelated photos, and as text on
 * page images.
 */
export async function writeFactMedia(
  folder: string,
  { stated, unanswered }: Facts,
): Promise<FactMedia> {
  const split = Math.round(stated.length * SPOKEN_SHARE);
  const spoken = await writeVideos(folder, stated.slice(0, split));
  const written = await writePages(folder, stated.slice(split));
  const unansweredCases = unanswered.map(({ missing, wording, question }) => {
    return { set: `no such ${missing}, ${wording}`, question, right: [], keys: [] };
  });
  return {
    files: [...spoken.files, ...written.files],
    cases: [...spoken.cases, ...written.cases, ...unansweredCases],
  };
}

async function writeVideos(folder: string, facts: readonly Fact[]): Promise<FactMedia> {
  const media: FactMedia = { files: [], cases: [] };
  for (let first = 0; first < facts.length; first += FACTS_PER_VIDEO) {
    const file = `video-${first / FACTS_PER_VIDEO}.mp4`;
    const cues: { start: number; end: number; text: string }[] = [];
    let at = PAUSE_SECONDS;
    const addCue = (text: string) => {
      const cue = { start: at, end: at + text.length / LETTERS_PER_SECOND, text };
      cues.push(cue);
      at = cue.end + PAUSE_SECONDS;
      return { start: cue.start, end: cue.end };
    };
    for (const [i, fact] of facts.slice(first, first + FACTS_PER_VIDEO).entries()) {
      if (i % 2 === 1) addCue(FILLERS[(first + i) % FILLERS.length]!);
      media.cases.push(...createCases("spoken", fact, { file, range: addCue(fact.sentence) }));
    }
    const scenes = PHOTOS.map((_, i) => {
      const image = photographPath(PHOTOS[(i + first / FACTS_PER_VIDEO) % PHOTOS.length]!);
      return { image, seconds: at / PHOTOS.length };
    });
    await encodeVideo(join(folder, file), scenes, SCREEN);
    const transcript = join(folder, file.replace(".mp4", ".json"));
    await writeFile(transcript, JSON.stringify(cues));
    media.files.push({ path: join(folder, file), kind: "video", transcript });
  }
  return media;
}

async function writePages(folder: string, facts: readonly Fact[]): Promise<FactMedia> {
  const media: FactMedia = { files: [], cases: [] };
  const rest = [...facts];
  for (let page = 0; rest.length > 0; page += 1) {
    const pageFacts = rest.splice(0, PAGE_FACTS[page % PAGE_FACTS.length]);
    const file = `page-${page}.jpg`;
    await writeFile(
      join(folder, file),
      await drawText(pageFacts.flatMap(({ sentence }) => wrapWords(sentence))),
    );
    media.files.push({ path: join(folder, file), kind: "image" });
    media.cases.push(
      ...pageFacts.flatMap((fact) => createCases("written", fact, { file, range: null })),
    );
  }
  return media;
}

function wrapWords(sentence: string): string[] {
  const words = sentence.split(" ");
  return Array.from({ length: Math.ceil(words.length / WORDS_PER_LINE) }, (_, line) =>
    words.slice(line * WORDS_PER_LINE, (line + 1) * WORDS_PER_LINE).join(" "),
  );
}

function createCases(
  medium: "spoken" | "written",
  { questions, keys }: Fact,
  right: Moment,
): AnswerCase[] {
  return questions.map(({ wording, question }) => {
    return { set: `${medium}, ${wording}`, question, right: [right], keys };
  });
}
