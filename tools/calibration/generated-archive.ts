import { type SegmentFields, syntheticId } from "../segment-batch.ts";
import { createRandom } from "../training/random.ts";
import { type DrawnScene, drawScenes } from "./drawn-scenes.ts";
import { generateScenes } from "./generated-scenes.ts";
import type { Corpus, GroundTruth } from "./judgments.ts";
import { createJudge, sampleQueries } from "./questions.ts";
import { createSceneCorpus, momentOf } from "./scene-corpus.ts";

/** Numbers of what an archive is made of. */
export interface ArchiveSize {
  scenes: number;
  /** Drawings; 0 without image embeddings. */
  drawings: number;
  /** Queries about the scenes, about the drawings, and by drawing. */
  queries: { text: number; drawings: number; images: number };
}

/** A query, and the ids of the relevant segments. */
export interface JudgedText {
  text: string;
  relevantIds: ReadonlySet<string>;
}
export interface JudgedImage {
  image: Uint8Array;
  relevantIds: ReadonlySet<string>;
}

/** An archive that is generated from the project's own words and shapes. */
export interface GeneratedArchive {
  segments: SegmentFields[];
  /** JPEGs by the ids of their segments. */
  images: ReadonlyMap<string, Uint8Array>;
  textQueries: JudgedText[];
  imageQueries: JudgedImage[];
}

/** Share of the drawings that aren't in the archive, but in queries. */
const ABSENT_DRAWINGS = 0.2;
/** Captions of a drawing that its queries aren't made of. */
const OTHER_CAPTIONS = 3;

/**
 * Generates scenes in words, which people and transcripts tell, and drawings without words. The same
 * seed gives the same archive.
 */
export async function generateArchive(size: ArchiveSize, seed: number): Promise<GeneratedArchive> {
  const random = createRandom(seed);
  const photos = generateScenes(size.scenes, random).map((captions) => ({ path: "", captions }));
  const scenes = createSceneCorpus(photos, random);
  const drawings = await drawScenes(size.drawings, random);
  const present = drawings.slice(0, Math.floor(drawings.length * (1 - ABSENT_DRAWINGS)));
  const drawn = present.map((_, at) => drawnSegment(at));
  const segments = [...scenes.segments, ...drawn];
  const truths = [...scenes.truths, ...present.map(({ captions }, at) => truthOf(at, captions))];
  const drawnQueries: Corpus = {
    files: [],
    truths: present.map(({ captions }, at) => truthOf(at, captions.slice(OTHER_CAPTIONS))),
    absentCaptions: drawings.slice(present.length).flatMap(({ captions }) => captions),
  };
  const judge = createJudge(truths);
  const questions = [
    ...sampleQueries(scenes.queryCorpus, size.queries.text, random),
    ...(present.length > 0 ? sampleQueries(drawnQueries, size.queries.drawings, random) : []),
  ];
  const ids = new Map(segments.map((segment) => [keyOf(momentOf(segment)), segment.segmentId]));
  const textQueries = questions.map((question) => {
    const relevantIds = judge(question).map((truth) => ids.get(keyOf(truth))!);
    return { text: question.text, relevantIds: new Set(relevantIds) };
  });
  return {
    segments,
    images: new Map(drawn.map(({ segmentId }, at) => [segmentId, present[at]!.image])),
    textQueries,
    imageQueries: toImageQueries(drawings, present, size.queries.images),
  };
}

/** Asks by drawings, evenly of those in the archive and the others. Relevant: the same subject. */
function toImageQueries(
  drawings: readonly DrawnScene[],
  present: readonly DrawnScene[],
  count: number,
): JudgedImage[] {
  const step = drawings.length / Math.max(1, Math.min(count, drawings.length));
  const asked = drawings.filter((_, at) => at % step < 1);
  return asked.map(({ otherImage, subject }) => {
    const relevant = present.flatMap((one, at) => (one.subject === subject ? [at] : []));
    return { image: otherImage, relevantIds: new Set(relevant.map((at) => idOfDrawing(at))) };
  });
}

/** Ids of drawings continue where no scene's are. */
function idOfDrawing(at: number): string {
  return syntheticId("seg", 1_000_000 + at);
}

function drawnSegment(at: number): SegmentFields {
  const texts = { caption: "", transcript: "", onScreenText: "" };
  return { segmentId: idOfDrawing(at), assetId: `img_${at}`, position: 0, ...texts };
}

function truthOf(at: number, captions: string[]): GroundTruth {
  return { ...momentOf(drawnSegment(at)), captions };
}

function keyOf({ file, at }: Pick<GroundTruth, "file" | "at">): string {
  return `${file} ${at}`;
}
