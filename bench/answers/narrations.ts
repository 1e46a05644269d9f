import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stemmer } from "stemmer";
import { contentWords } from "../../src/search/query.ts";
import type { MediaFile } from "../../tools/media-files.ts";
import type { AnswerCase, Moment } from "./case.ts";

interface Narration {
  file: string;
  segments?: { start: number; end: number; text: string }[];
}

/** A sentence of a narration, and where it is spoken. */
interface NarratedSentence {
  moment: Moment;
  /** Words by stem, the rarest in all narrations first. */
  words: Map<string, string>;
}

/**
 * Narrated videos, and questions about all narrations. Questions about the other set's videos have
 * no answer.
 */
export interface NarrationSet {
  files: MediaFile[];
  cases: AnswerCase[];
}

const QUESTION_WORDS = 2;
const KEY_WORDS = 2;

/**
 * Reads the narrated videos of a folder and splits them into two sets. Each sentence gives a
 * question with its two rarest words, for both sets: one has the answer, the other doesn't. If
 * several sentences contain both words, each is right. Sentences with fewer than four content words
 * give no question.
 */
export async function readNarrations(folder: string): Promise<NarrationSet[]> {
  const all: Narration[] = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const videos = all.filter(({ file, segments }) => segments && file.startsWith("narrated"));
  const sentences = sortWordsByRarity(videos);
  const half = Math.ceil(videos.length / 2);
  return [videos.slice(0, half), videos.slice(half)].map((setVideos) => {
    const names = new Set(setVideos.map(({ file }) => file));
    const files = setVideos.map(({ file }) => {
      const transcript = join(folder, file.replace(/\.\w+$/, ".srt"));
      return { path: join(folder, file), kind: "video" as const, transcript };
    });
    const setSentences = sentences.filter(({ moment }) => names.has(moment.file));
    return { files, cases: sentences.flatMap((sentence) => createCases(sentence, setSentences)) };
  });
}

function sortWordsByRarity(videos: readonly Narration[]): NarratedSentence[] {
  const sentences = videos.flatMap(({ file, segments = [] }) =>
    segments.map(({ start, end, text }) => {
      const words = new Map(contentWords(text).map((word) => [stemmer(word), word]));
      return { moment: { file, range: { start, end } }, words };
    }),
  );
  const countSentences = (stem: string) => sentences.filter(({ words }) => words.has(stem)).length;
  return sentences.map(({ moment, words }) => {
    const rarest = [...words].toSorted(([a], [b]) => countSentences(a) - countSentences(b));
    return { moment, words: new Map(rarest) };
  });
}

function createCases(
  { words }: NarratedSentence,
  setSentences: readonly NarratedSentence[],
): AnswerCase[] {
  const stems = [...words.keys()];
  if (stems.length < QUESTION_WORDS + KEY_WORDS) return [];
  const queryStems = stems.slice(0, QUESTION_WORDS);
  const right = setSentences.filter((other) => queryStems.every((stem) => other.words.has(stem)));
  const isAnswered = setSentences.some((other) => other.words === words);
  if (!isAnswered && right.length > 0) return []; // another narration answers it too
  const queryWords = queryStems.map((stem) => words.get(stem)!).join(" and ");
  return [
    {
      set: isAnswered ? "speech" : "unanswered speech",
      question: `What is said about ${queryWords}?`,
      right: right.map(({ moment }) => moment),
      keys: stems.slice(QUESTION_WORDS, QUESTION_WORDS + KEY_WORDS).map((stem) => words.get(stem)!),
    },
  ];
}
