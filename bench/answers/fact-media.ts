import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MediaFile } from "../../scripts/demo/media-files.ts";
import { encodeFilm } from "../../scripts/sample/film.ts";
import { photograph } from "../../scripts/sample/pictures.ts";
import { drawWords } from "../../scripts/sample/words-picture.ts";
import type { Case, Moment } from "./case.ts";
import type { Fact, Facts } from "./facts.ts";

/** Media that state facts, and questions about them. */
export interface FactMedia {
  files: MediaFile[];
  cases: Case[];
}

/** Of the facts this share is told; the rest is written. */
const TOLD = 2 / 3;
const FILM_FACTS = 8;
/** Facts on a page, page after page. */
const PAGE_FACTS = [1, 2, 1];
const LINE_WORDS = 5;
const SCREEN = { width: 320, height: 180, fps: 10 };
const LETTERS_PER_SECOND = 15;
const PAUSE_SECONDS = 0.4;
const PICTURES = [
  "nagasaki-boats",
  "airplane-from-above",
  "french-alpine-landscape",
  "allium-oreophilum",
  "dust-bowl-home",
] as const;
/** What a narrator says between facts. */
const FILLERS = [
  "And now to something else entirely.",
  "Thank you for staying with us.",
  "More about that later in the programme.",
  "Many people have asked us about this.",
  "Here is what we found on our journey.",
];

/** Tells facts in films, over pictures of other things, and writes them on pages; in `folder`. */
export async function layOutFacts(folder: string, { stated, unstated }: Facts): Promise<FactMedia> {
  const split = Math.round(stated.length * TOLD);
  const told = await tellFacts(folder, stated.slice(0, split));
  const written = await writeFacts(folder, stated.slice(split));
  const open = unstated.map(({ missing, wording, question }) => {
    return { set: `no such ${missing}, ${wording}`, question, right: [], keys: [] };
  });
  return {
    files: [...told.files, ...written.files],
    cases: [...told.cases, ...written.cases, ...open],
  };
}

async function tellFacts(folder: string, facts: readonly Fact[]): Promise<FactMedia> {
  const media: FactMedia = { files: [], cases: [] };
  for (let first = 0; first < facts.length; first += FILM_FACTS) {
    const file = `film-${first / FILM_FACTS}.mp4`;
    const cues: { start: number; end: number; text: string }[] = [];
    let at = PAUSE_SECONDS;
    const say = (text: string) => {
      const cue = { start: at, end: at + text.length / LETTERS_PER_SECOND, text };
      cues.push(cue);
      at = cue.end + PAUSE_SECONDS;
      return { start: cue.start, end: cue.end };
    };
    for (const [i, fact] of facts.slice(first, first + FILM_FACTS).entries()) {
      if (i % 2 === 1) say(FILLERS[(first + i) % FILLERS.length]!);
      media.cases.push(...casesOf("told", fact, { file, span: say(fact.sentence) }));
    }
    const scenes = PICTURES.map((_, i) => {
      const picture = photograph(PICTURES[(i + first / FILM_FACTS) % PICTURES.length]!);
      return { picture, seconds: at / PICTURES.length };
    });
    await encodeFilm(join(folder, file), scenes, SCREEN);
    const transcript = join(folder, file.replace(".mp4", ".json"));
    await writeFile(transcript, JSON.stringify(cues));
    media.files.push({ path: join(folder, file), kind: "video", transcript });
  }
  return media;
}

async function writeFacts(folder: string, facts: readonly Fact[]): Promise<FactMedia> {
  const media: FactMedia = { files: [], cases: [] };
  const rest = [...facts];
  for (let page = 0; rest.length > 0; page += 1) {
    const some = rest.splice(0, PAGE_FACTS[page % PAGE_FACTS.length]);
    const file = `page-${page}.jpg`;
    await writeFile(
      join(folder, file),
      await drawWords(some.flatMap(({ sentence }) => inLines(sentence))),
    );
    media.files.push({ path: join(folder, file), kind: "image" });
    media.cases.push(...some.flatMap((fact) => casesOf("written", fact, { file, span: null })));
  }
  return media;
}

function inLines(sentence: string): string[] {
  const words = sentence.split(" ");
  return Array.from({ length: Math.ceil(words.length / LINE_WORDS) }, (_, line) =>
    words.slice(line * LINE_WORDS, (line + 1) * LINE_WORDS).join(" "),
  );
}

function casesOf(how: "told" | "written", { asked, keys }: Fact, right: Moment): Case[] {
  return asked.map(({ wording, question }) => {
    return { set: `${how}, ${wording}`, question, right: [right], keys };
  });
}
