import type { Hit, SearchRequest, SightlineIndex } from "sightline";
import { contentWords } from "../../src/search/query.ts";
import { createRandom, type Random } from "../../tools/random-numbers.ts";
import { VIDEO_SEGMENTS } from "../../tools/segment-batch.ts";
import { type Service, withService } from "../../tools/service.ts";
import { quantile, round, type Suite } from "../../tools/suite.ts";
import type { CaptionedPhoto } from "../../tools/training/captions.ts";
import { shuffle } from "../../tools/training/random.ts";
import { captionSimilarity } from "../caption-similarity.ts";
import { type CorpusMaterial, loadCorpusMaterial, toBatch } from "../search/corpus-vectors.ts";
import { type CorpusSegment, makeSegments } from "../search/corpus.ts";
import { checkVectors, loadBatch, LOADING_WORKER } from "../search/load-batch.ts";

const INDEX = "films";
const SEED = 11;
const SHOTS = 2000;
const TARGETS = 100;
/** Hits that a user sees at once, and screens after which the user gives up. */
const [SCREEN, MAX_SCREENS] = [24, 20];
/** Screens of chains before the user goes back to a single query. */
const CHAIN_SCREENS = 2;
/** Judgments after each screen, and screens that are judged. */
const [JUDGMENTS, JUDGED_SCREENS] = [3, 3];
/** Lowest similarity to the target of a shot that the user wants more of. */
const MIN_SIMILARITY = 0.2;
/** Most words of the shorter memory. */
const MAX_WORDS = 3;

/** What a user remembers: words of a shot, and of the one that follows. */
interface Task {
  shot: number;
  query: string;
  next: string;
}

/** Returns the screens looked at until the target is seen; one more than all if it never is. */
type Strategy = (films: Films, task: Task) => Promise<number>;

/** The films, and how alike their shots are to a person. */
interface Films {
  index: SightlineIndex;
  segments: readonly CorpusSegment[];
  similarity: (shot: number, other: number) => number;
}

const STRATEGIES: Record<string, Strategy> = {
  "one query": (films, { shot, query }) => page(films, shot, { query }, MAX_SCREENS),
  "with “then…”": async (films, task) => findByChain(films, task, page),
  "with refinement": (films, { shot, query }) => findByRefinement(films, shot, { query }),
  "with both": async (films, task) => findByChain(films, task, findByRefinement),
};

/** Looks through the screens of a search. */
async function page(
  films: Films,
  shot: number,
  request: SearchRequest,
  screens: number,
): Promise<number> {
  let cursor: string | undefined;
  for (let screen = 1; screen <= screens; screen++) {
    const body = { ...request, top_k: SCREEN, collapse: false, ...(cursor && { cursor }) };
    const { segments, next_cursor } = await films.index.search(body);
    if (shows(films, segments, shot)) return screen;
    if (next_cursor === null) break;
    cursor = next_cursor;
  }
  return screens + 1;
}

/** Tests whether a screen has the shot, as a hit or as a step of a chain. */
function shows({ segments }: Films, hits: readonly Hit[], shot: number): boolean {
  const { segmentId } = segments[shot]!;
  return hits.some(({ segment_id: id, steps }) => {
    return (
      id === segmentId || (steps ?? []).some(({ segment }) => segment.segment_id === segmentId)
    );
  });
}

/** Looks at two screens of chains, then for the shot alone. */
async function findByChain(
  films: Films,
  { shot, query, next }: Task,
  findAlone: (
    films: Films,
    shot: number,
    request: SearchRequest,
    screens: number,
  ) => Promise<number>,
): Promise<number> {
  const sequence = [{ query }, { query: next }];
  const screens = await page(films, shot, { sequence, within_seconds: 10 }, CHAIN_SCREENS);
  if (screens <= CHAIN_SCREENS) return screens;
  const left = MAX_SCREENS - CHAIN_SCREENS;
  return CHAIN_SCREENS + (await findAlone(films, shot, { query }, left));
}

/** Marks the shots of a screen that are most like the target, then looks at the refined search. */
async function findByRefinement(
  films: Films,
  shot: number,
  request: SearchRequest,
  screens = MAX_SCREENS,
): Promise<number> {
  const liked = new Set<string>();
  const shotOf = new Map(films.segments.map(({ segmentId }, at) => [segmentId, at]));
  for (let screen = 1; screen <= Math.min(screens, JUDGED_SCREENS); screen++) {
    const body = { ...request, top_k: SCREEN, collapse: false, more_like: [...liked] };
    const { segments } = await films.index.search(body);
    if (shows(films, segments, shot)) return screen;
    const alike = segments
      .filter(({ segment_id: id }) => !liked.has(id))
      .map(({ segment_id: id }) => ({ id, similarity: films.similarity(shot, shotOf.get(id)!) }))
      .filter(({ similarity }) => similarity >= MIN_SIMILARITY)
      .toSorted((a, b) => b.similarity - a.similarity);
    for (const { id } of alike.slice(0, JUDGMENTS)) liked.add(id);
    if (alike.length === 0) break;
  }
  const left = screens - JUDGED_SCREENS;
  return JUDGED_SCREENS + (await page(films, shot, { ...request, more_like: [...liked] }, left));
}

/** Loads the films: shots with a picture and the sentence that a captioning model would write. */
async function loadFilms(service: Service, material: CorpusMaterial): Promise<CorpusSegment[]> {
  await service.sightline.indices.create({ index_name: INDEX });
  const segments = makeSegments(material.photos, SHOTS).map((segment, at) => {
    const sources = [{ photo: at, sentence: 0 }];
    const caption = photoOf(material, at).captions[0]!;
    return Object.assign(segment, { caption, transcript: "", onScreenText: "", sources });
  });
  for (let at = 0; at < SHOTS; at += 10 * VIDEO_SEGMENTS) {
    const batch = toBatch(material, segments.slice(at, at + 10 * VIDEO_SEGMENTS));
    await loadBatch(service, INDEX, batch);
  }
  await checkVectors(service, INDEX, segments[0]!.caption);
  return segments;
}

function photoOf({ photos: { known, others } }: CorpusMaterial, at: number): CaptionedPhoto {
  return known[at] ?? others[at - known.length]!;
}

/** What users remember of a shot. */
const MEMORIES = {
  "one to three words": (caption: string, random: Random) => {
    const words = contentWords(caption);
    const count = Math.min(words.length, 1 + Math.floor(random() * MAX_WORDS));
    const start = Math.floor(random() * (words.length - count + 1));
    return words.slice(start, start + count).join(" ");
  },
  "a sentence": (caption: string) => caption,
};

/** Draws targets that aren't the last shot of a film; queries are captions that no shot has. */
function drawTasks(
  material: CorpusMaterial,
  recall: (caption: string, random: Random) => string,
  random: Random,
): Task[] {
  const known = shuffle(material.photos.known.length, random);
  const inside = known.filter((at) => (at + 1) % VIDEO_SEGMENTS !== 0 && at + 1 < known.length);
  const recallShot = (shot: number) => recall(photoOf(material, shot).captions.at(-1)!, random);
  return inside.slice(0, TARGETS).map((shot) => {
    return { shot, query: recallShot(shot), next: recallShot(shot + 1) };
  });
}

export const suite: Suite = {
  summary: "screens until a scripted user finds 100 shots among 2,000, by four ways of looking",
  async run(options) {
    const material = await loadCorpusMaterial(options);
    const photos = Array.from({ length: SHOTS }, (_, at) => photoOf(material, at));
    const measured = await withService(
      options,
      async (service) => {
        const segments = await loadFilms(service, material);
        const index = service.sightline.index(INDEX);
        const films = { index, segments, similarity: captionSimilarity(photos) };
        const all: { remembered: string; way: string; screens: number[] }[] = [];
        for (const [remembered, recall] of Object.entries(MEMORIES)) {
          const tasks = drawTasks(material, recall, createRandom(SEED));
          for (const [way, find] of Object.entries(STRATEGIES)) {
            const screens: number[] = [];
            for (const task of tasks) {
              options.signal.throwIfAborted();
              screens.push(await find(films, task));
            }
            options.log(`${remembered}, ${way}: ${JSON.stringify(summarize(screens))}`);
            all.push({ remembered, way, screens });
          }
        }
        return all;
      },
      { entry: LOADING_WORKER },
    );
    const table = measured.map(({ remembered, way, screens }) => {
      return Object.assign({ remembered, way }, summarize(screens));
    });
    return { table, json: { shots: SHOTS, targets: TARGETS, ways: table } };
  },
};

function summarize(screens: number[]) {
  const mean = screens.reduce((sum, one) => sum + one, 0) / screens.length;
  const share = (least: number) => screens.filter((one) => one <= least).length / screens.length;
  return {
    median: quantile(screens, 0.5),
    mean: round(mean),
    "on the first screen": round(share(1)),
    found: round(share(MAX_SCREENS)),
  };
}
