import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stemmer } from "stemmer";
import { tellingWords } from "../../src/search/query.ts";
import type { MediaFile } from "../../scripts/demo/media-files.ts";
import type { Case, Moment } from "./case.ts";

interface Narration {
  file: string;
  segments?: { start: number; end: number; text: string }[];
}

/** A sentence of a narration. */
interface Told {
  moment: Moment;
  /** By their stems, the rarest in all narrations first. */
  words: Map<string, string>;
}

/** Narrated films, and questions about all narrations, of which the other films' are open. */
export interface Narrated {
  files: MediaFile[];
  cases: Case[];
}

const ASKED_WORDS = 2;
const KEY_WORDS = 2;

/**
 * The narrated films of a folder in two halves. Every sentence is asked about in both, by its two
 * rarest words: in one half it is there, in the other it isn't. Where the two words stand in several
 * sentences, each of them is right; a sentence of fewer than four telling words isn't asked about.
 */
export async function readNarrations(folder: string): Promise<Narrated[]> {
  const all: Narration[] = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const films = all.filter(({ file, segments }) => segments && file.startsWith("narrated"));
  const told = tellRarity(films);
  const half = Math.ceil(films.length / 2);
  return [films.slice(0, half), films.slice(half)].map((some) => {
    const names = new Set(some.map(({ file }) => file));
    const files = some.map(({ file }) => {
      const transcript = join(folder, file.replace(/\.\w+$/, ".srt"));
      return { path: join(folder, file), kind: "video" as const, transcript };
    });
    const here = told.filter(({ moment }) => names.has(moment.file));
    return { files, cases: told.flatMap((sentence) => askAbout(sentence, here)) };
  });
}

function tellRarity(films: readonly Narration[]): Told[] {
  const sentences = films.flatMap(({ file, segments = [] }) =>
    segments.map(({ start, end, text }) => {
      const words = new Map(tellingWords(text).map((word) => [stemmer(word), word]));
      return { moment: { file, span: { start, end } }, words };
    }),
  );
  const held = (stem: string) => sentences.filter(({ words }) => words.has(stem)).length;
  return sentences.map(({ moment, words }) => {
    const rarest = [...words].toSorted(([a], [b]) => held(a) - held(b));
    return { moment, words: new Map(rarest) };
  });
}

function askAbout({ words }: Told, here: readonly Told[]): Case[] {
  const stems = [...words.keys()];
  if (stems.length < ASKED_WORDS + KEY_WORDS) return [];
  const asked = stems.slice(0, ASKED_WORDS);
  const right = here.filter((other) => asked.every((stem) => other.words.has(stem)));
  const isThere = here.some((other) => other.words === words);
  if (!isThere && right.length > 0) return []; // another narration says the same
  const named = asked.map((stem) => words.get(stem)!).join(" and ");
  return [
    {
      set: isThere ? "speech" : "no such speech",
      question: `What is said about ${named}?`,
      right: right.map(({ moment }) => moment),
      keys: stems.slice(ASKED_WORDS, ASKED_WORDS + KEY_WORDS).map((stem) => words.get(stem)!),
    },
  ];
}
