import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Hit, SightlineIndex } from "sightline";
import { uniqueWords } from "../../src/search/query.ts";
import type { MediaFile } from "../../tools/media-files.ts";
import { createRandom } from "../../tools/random-numbers.ts";
import { encodeVideo } from "../../tools/sample/video.ts";
import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite } from "../../tools/suite.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../../tools/training/captions.ts";
import { shuffle } from "../../tools/training/random.ts";

const SEED = 44;
/** Words of things that one photo shows and another doesn't, and that detectors know. */
const CONCEPTS = ["dog", "motorcycle", "boat", "skateboard", "horse", "bird"];
const TARGETS = 8;
/** Photos of each concept that are tried: the detector has to find it. */
const TRIED_PHOTOS = 3;
const SHOT_SECONDS = 4;
const SCREEN = { width: 320, height: 320, fps: 10 };
/** Shots between both steps in the film that is looked for, and in the one where it is too long. */
const NEAR_SHOTS = 1;
const FAR_SHOTS = 4;
/** The gap of the first film is shorter, that of the second longer. */
const WITHIN_SECONDS = 10;
/** The same shots have nearly the same scores in all three films. */
const EQUAL_SCORES = 0.001;
const MIN_RECALL = 0.9;
const MIN_RATIO = 2;

/** What is shown and said for five seconds. */
interface Shot {
  photo: CaptionedPhoto;
  spoken: string;
  label: string;
}

/** A film that is looked for: one shot, and later another. */
interface Target {
  file: string;
  first: Shot;
  second: Shot;
}

/** Chooses photos that show one concept each, by at least four of their captions. */
function photosOfConcepts(photos: readonly CaptionedPhoto[]): Map<string, CaptionedPhoto[]> {
  const names = ({ captions }: CaptionedPhoto) =>
    CONCEPTS.filter((concept) => captions.some((caption) => hasConcept(caption, concept)));
  return new Map(
    CONCEPTS.map((concept) => {
      const shown = photos.filter((photo) => {
        const agreeing = photo.captions.filter((caption) => hasConcept(caption, concept));
        return names(photo).length === 1 && agreeing.length >= 4;
      });
      return [concept, shown.slice(0, TRIED_PHOTOS)];
    }),
  );
}

/** Keeps the photos in which the service detects their concept; a sequence can't repair that. */
async function labelledPhotos(
  { ingest, sightline }: Service,
  byConcept: Map<string, CaptionedPhoto[]>,
): Promise<Map<string, CaptionedPhoto[]>> {
  const all = [...byConcept.values()].flat();
  await ingest(
    "photos",
    all.map(({ path }) => ({ path, kind: "image" })),
  );
  const labels = new Map<string, string[]>();
  const search = { query: CONCEPTS.join(" "), top_k: 500, collapse: false };
  const { segments } = await sightline.index("photos").search(search);
  for (const hit of segments) labels.set(hit.title, hit.labels);
  const labelled = [...byConcept].map(([concept, photos]) => {
    const shown = photos.filter(({ path }) => labels.get(basename(path))?.includes(concept));
    return [concept, shown] as const;
  });
  return new Map(labelled.filter(([, photos]) => photos.length > 0));
}

const hasConcept = (caption: string, concept: string) =>
  uniqueWords(caption).some((word) => word === concept || word === `${concept}s`);

/** Writes three films for each target: as it is, with both shots reversed, and too far apart. */
async function writeFilms(
  folder: string,
  order: readonly CaptionedPhoto[],
  byConcept: ReadonlyMap<string, CaptionedPhoto[]>,
) {
  const isNeutral = ({ captions }: CaptionedPhoto) =>
    !captions.some((caption) => CONCEPTS.some((concept) => hasConcept(caption, concept)));
  const neutral = order.filter(isNeutral);
  const spoken = neutral.splice(0, 2 * TARGETS).map(({ captions }) => captions[0]!);
  const known = [...byConcept.keys()];
  const pairs = known.flatMap((one, i) => known.slice(i + 1).map((other) => [one, other]));
  const takeShot = (label: string): Shot => {
    const shown = byConcept.get(label)!;
    const photo = shown.shift()!;
    shown.push(photo);
    return { photo, spoken: spoken.shift()!, label };
  };
  const takeFillers = (count: number) => neutral.splice(0, count);
  const files: MediaFile[] = [];
  const targets: Target[] = [];
  const chosen = shuffle(pairs.length, createRandom(SEED)).slice(0, TARGETS);
  for (const [i, labels] of chosen.map((at) => pairs[at]!).entries()) {
    const [first, second] = labels.map(takeShot) as [Shot, Shot];
    const film = async (name: string, shots: (Shot | CaptionedPhoto)[]) => {
      const file = `film-${i}-${name}.mp4`;
      files.push(await writeFilm(folder, file, shots));
      return file;
    };
    const file = await film("target", [first, ...takeFillers(NEAR_SHOTS), second]);
    await film("reversed", [second, ...takeFillers(NEAR_SHOTS), first]);
    await film("far", [first, ...takeFillers(FAR_SHOTS), second]);
    targets.push({ file, first, second });
  }
  return { files, targets };
}

async function writeFilm(
  folder: string,
  file: string,
  shots: (Shot | CaptionedPhoto)[],
): Promise<MediaFile> {
  const scenes = shots.map((shot) => {
    const image = "photo" in shot ? shot.photo.path : shot.path;
    return { image, seconds: SHOT_SECONDS };
  });
  await encodeVideo(join(folder, file), scenes, SCREEN);
  const cues = shots.flatMap((shot, i) => {
    if (!("photo" in shot)) return [];
    const start = i * SHOT_SECONDS;
    return [{ start: start + 0.5, end: start + SHOT_SECONDS - 0.5, text: shot.spoken }];
  });
  const transcript = join(folder, file.replace(".mp4", ".json"));
  await writeFile(transcript, JSON.stringify(cues));
  return { path: join(folder, file), kind: "video", transcript };
}

/** Texts of both steps: what is said (every second word of it), or what is shown. */
const QUERIES: Record<string, (target: Target) => [string, string]> = {
  "speech, then speech": ({ first, second }) => [halfOf(first.spoken), halfOf(second.spoken)],
  "label, then label": ({ first, second }) => [first.label, second.label],
  "label, then speech": ({ first, second }) => [first.label, halfOf(second.spoken)],
  "speech, then label": ({ first, second }) => [halfOf(first.spoken), second.label],
};

function halfOf(sentence: string): string {
  const words = sentence.split(/\s+/);
  return words.filter((_, i) => i % 2 === 1).join(" ");
}

interface Outcome {
  /** Whether the first chain begins with the first shot of the right film. */
  isRight: boolean;
  /** Its score; 0 without one. */
  score: number;
  /** Whether it is in the film with both shots reversed. */
  isReversed: boolean;
  /** Probability that the right film is first by the joined query, of equal scores at random. */
  joinedShare: number;
}

function shareOfBest(hits: readonly Hit[], file: string): number {
  const best = hits.filter(({ score }) => score >= hits[0]!.score - EQUAL_SCORES);
  return best.some(({ title }) => title === file) ? 1 / best.length : 0;
}

/** Searches for all targets, as sequences and with both steps as one query. */
async function measure(
  index: SightlineIndex,
  targets: readonly Target[],
  toTexts: (target: Target) => [string, string],
) {
  const outcomes: Outcome[] = [];
  for (const target of targets) {
    const sequence = toTexts(target);
    const chained = await index.search({ sequence, within_seconds: WITHIN_SECONDS, top_k: 10 });
    const query = sequence.join(", then ");
    const joined = await index.search({ query, top_k: 10, group_by: "asset", collapse: false });
    const [best] = chained.segments;
    const isRight = best?.title === target.file && best.start_seconds! < SHOT_SECONDS / 2;
    outcomes.push({
      isRight,
      score: best?.score ?? 0,
      isReversed: best?.title === target.file.replace("target", "reversed"),
      joinedShare: shareOfBest(joined.segments, target.file),
    });
  }
  const share = (matches: (one: Outcome) => boolean) =>
    round(outcomes.filter(matches).length / outcomes.length, 3);
  const joinedSum = outcomes.reduce((sum, { joinedShare }) => sum + joinedShare, 0);
  const stated = outcomes.reduce((sum, { score }) => sum + score, 0) / outcomes.length;
  return {
    targets: outcomes.length,
    r1: share(({ isRight }) => isRight),
    joined_r1: round(joinedSum / outcomes.length, 3),
    reversed_first: share(({ isReversed }) => isReversed),
    stated: round(stated, 3),
  };
}

export const suite: Suite = {
  summary:
    "one shot, then another, by speech and labels, among films with both reversed or too far " +
    "apart: is the right film first, and how often by one joined query?",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-sequences-"));
    try {
      const photos = await readCaptionedPhotos(join(options.dataDir, "photos"));
      const order = shuffle(photos.length, createRandom(SEED)).map((at) => photos[at]!);
      let failed = 0;
      const rows = await withService(options, async (service) => {
        const { ingest, sightline } = service;
        const shown = await labelledPhotos(service, photosOfConcepts(order));
        const { files, targets } = await writeFilms(folder, order, shown);
        const ended = await ingest("films", files);
        failed += ended.filter(({ state }) => state !== "ready").length;
        const measured = [];
        for (const [queries, toTexts] of Object.entries(QUERIES)) {
          const row = await measure(sightline.index("films"), targets, toTexts);
          measured.push({ queries, ...row });
        }
        return measured;
      });
      const problems = rows.filter(
        ({ r1, joined_r1 }) => r1 < MIN_RECALL || r1 < MIN_RATIO * joined_r1,
      ).length;
      const json = { films: 3 * TARGETS, failed, sets: rows };
      return { table: rows, json, problems: problems + failed };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
