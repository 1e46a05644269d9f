import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Hit, SearchRequest } from "sightline";
import { stemmer } from "stemmer";
import { contentWords } from "../../src/search/query.ts";
import { writeCorpus } from "../../tools/calibration/corpus.ts";
import type { MediaFile } from "../../tools/media-files.ts";
import { createRandom } from "../../tools/random-numbers.ts";
import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite } from "../../tools/suite.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../../tools/training/captions.ts";
import { shuffle } from "../../tools/training/random.ts";

const SEED = 5;
/** Photos that the archive is made of: two fifths are images, others are spoken of in videos. */
const PHOTOS = 320;
const INDEX = "logic";
const TOP_K = 500;
/** Fewest items on each side of a pair of words: with both, and with the first alone. */
const MIN_SIDE = 3;
const MAX_QUERIES = 80;
/** Captions, of five, that mention a thing that is certainly in a photo. */
const CERTAIN_MENTIONS = 2;
/** Least share of pairs in the right order. */
const BARS = { text: 0.85, labels: 0.75 } as const;

/** Things that detectors know, and how captions call them. The first is searched for. */
const THINGS: readonly (readonly string[])[] = [
  ["person", ...words("people man men woman women boy girl child children kid lady guy player")],
  ["dog", ...words("dogs puppy")],
  ["bicycle", ...words("bicycles bike bikes")],
  ["ball", ...words("balls soccer football basketball baseball")],
  ["car", ...words("cars truck vehicle")],
  ["horse", ...words("horses")],
];
/** What photos show beside them. */
const SCENES = words("grass water beach snow street field outside grassy sand wall running black");

function words(text: string): string[] {
  return text.split(" ");
}

/** A part of the archive, and the words that are certainly or possibly in it. */
interface Item {
  file: string;
  /** Seconds; null for an image. */
  at: number | null;
  certain: ReadonlySet<string>;
  possible: ReadonlySet<string>;
}

interface SpokenItem extends Item {
  words: string[];
}

/** A search for one thing without another, with the items that have both or the first alone. */
interface Case {
  query: string;
  absent: string;
  modes: NonNullable<SearchRequest["modes"]>;
  withThing: Item[];
  withoutThing: Item[];
}

const stemsOf = (text: string) => new Set(contentWords(text).map(stemmer));

/** Returns the spoken sentences of videos, each of which is a segment. */
async function readSpoken(files: readonly MediaFile[]): Promise<SpokenItem[]> {
  const spoken = files.flatMap(({ path, transcript }) => (transcript ? { path, transcript } : []));
  const items = await Promise.all(
    spoken.map(async ({ path, transcript }) => {
      const cues: { start: number; end: number; text: string }[] = JSON.parse(
        await readFile(transcript, "utf8"),
      );
      return cues.map(({ start, end, text }): SpokenItem => {
        const spokenWords = contentWords(text);
        const certain = stemsOf(text);
        const at = (start + end) / 2;
        return { file: basename(path), at, certain, possible: certain, words: spokenWords };
      });
    }),
  );
  return items.flat();
}

/** Returns the photos of the archive with the words of their captions. */
function readImages(files: readonly MediaFile[], photos: readonly CaptionedPhoto[]): Item[] {
  const paths = new Set(files.filter(({ kind }) => kind === "image").map(({ path }) => path));
  return photos
    .filter(({ path }) => paths.has(path))
    .map(({ path, captions }) => {
      const mentions = captions.map((caption) => stemsOf(caption));
      const possible = new Set(mentions.flatMap((stems) => [...stems]));
      const certain = new Set(
        [...possible].filter((stem) => {
          return mentions.filter((stems) => stems.has(stem)).length >= CERTAIN_MENTIONS;
        }),
      );
      return { file: basename(path), at: null, certain, possible };
    });
}

/** Makes a case for each pair of words that some items have together, and others don't. */
function makeCases(
  items: readonly Item[],
  queries: readonly string[],
  things: readonly (readonly string[])[],
  modes: Case["modes"],
): Case[] {
  const isIn = (names: readonly string[], stems: ReadonlySet<string>) =>
    names.some((name) => stems.has(stemmer(name)));
  return queries.flatMap((query) => {
    const relevant = items.filter(({ certain }) => isIn([query], certain));
    return things.flatMap((names) => {
      const withThing = relevant.filter(({ certain }) => isIn(names, certain));
      const withoutThing = relevant.filter(({ possible }) => !isIn(names, possible));
      const isEnough = Math.min(withThing.length, withoutThing.length) >= MIN_SIDE;
      if (!isEnough || isIn([query], new Set(names.map(stemmer)))) return [];
      return { query, absent: names[0]!, modes, withThing, withoutThing };
    });
  });
}

/** Makes cases of words that are spoken together. */
function makeTextCases(items: readonly SpokenItem[]): Case[] {
  const counts = Map.groupBy(
    items.flatMap(({ words: spoken }) => spoken),
    (word) => stemmer(word),
  );
  const common = [...counts.values()]
    .filter(({ length }) => length >= 2 * MIN_SIDE)
    .map(([word]) => word!);
  const things = common.map((word) => [word]);
  const cases = makeCases(items, common, things, ["speech"]);
  const order = shuffle(cases.length, createRandom(SEED)).slice(0, MAX_QUERIES);
  return order.map((at) => cases[at]!);
}

function isHitOf({ title, start_seconds: start, end_seconds: end }: Hit, { file, at }: Item) {
  return title === file && (at === null || (at >= start! && at < end!));
}

/** Counts the pairs in which what lacks the thing comes first, and half of those with no hit. */
function countRight({ withThing, withoutThing }: Case, hits: readonly Hit[]): number {
  const rankOf = (item: Item) => {
    const rank = hits.findIndex((hit) => isHitOf(hit, item));
    return rank < 0 ? Infinity : rank;
  };
  const [ranksWith, ranksWithout] = [withThing.map(rankOf), withoutThing.map(rankOf)];
  return ranksWith
    .flatMap((withRank) =>
      ranksWithout.map((rank): number => {
        return rank === withRank ? 0.5 : Number(rank < withRank);
      }),
    )
    .reduce((sum, value) => sum + value, 0);
}

/** Runs the cases with `none`, and as a plain query that says "without". */
async function measure({ sightline }: Service, set: string, cases: readonly Case[]) {
  const index = sightline.index(INDEX);
  const totals = { pairs: 0, none: 0, words: 0, stated: 0, absent: 0, judged: 0 };
  for (const one of cases) {
    const { query, absent, modes, withThing, withoutThing } = one;
    const common = { modes, top_k: TOP_K, collapse: false };
    const none = await index.search({ query, none: [absent], ...common });
    const plain = await index.search({ query: `${query} without ${absent}`, ...common });
    totals.pairs += withThing.length * withoutThing.length;
    totals.none += countRight(one, none.segments);
    totals.words += countRight(one, plain.segments);
    for (const hit of none.segments) {
      const isAbsent = withoutThing.some((item) => isHitOf(hit, item));
      if (!isAbsent && !withThing.some((item) => isHitOf(hit, item))) continue;
      totals.judged++;
      totals.stated += hit.conditions![0]!.score;
      totals.absent += Number(isAbsent);
    }
  }
  return {
    set,
    queries: cases.length,
    pairs: totals.pairs,
    none: round(totals.none / totals.pairs, 3),
    in_words: round(totals.words / totals.pairs, 3),
    stated_absence: round(totals.stated / totals.judged, 3),
    absent: round(totals.absent / totals.judged, 3),
  };
}

export const suite: Suite = {
  summary: "one thing without another: is what lacks it ranked before what has it?",
  async run(options) {
    const photos = await readCaptionedPhotos(join(options.dataDir, "photos"));
    const order = shuffle(photos.length, createRandom(SEED)).slice(0, PHOTOS);
    const some = order.map((at) => photos[at]!);
    const folder = await mkdtemp(join(tmpdir(), "sightline-logic-"));
    try {
      const corpus = await writeCorpus(folder, some);
      const files = corpus.files.filter(({ path }) => !basename(path).startsWith("page-"));
      const text = makeTextCases(await readSpoken(files));
      const labels = makeCases(readImages(files, some), SCENES, THINGS, ["image"]);
      const table = await withService(options, async (service) => {
        await service.ingest(INDEX, files);
        const rows = [];
        for (const [set, cases] of Object.entries({ text, labels })) {
          options.log(`${set}: ${cases.length} queries`);
          rows.push(await measure(service, set, cases));
        }
        return rows;
      });
      const problems = table.filter(({ set, none }) => none < BARS[set as keyof typeof BARS]);
      return { table, json: { sets: table }, problems: problems.length };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
