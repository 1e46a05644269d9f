import { createRandom } from "../random-numbers.ts";
import type { SegmentFields } from "../segment-batch.ts";
import { generateScenes } from "./generated-scenes.ts";
import type { GroundTruth } from "./judgments.ts";
import { createJudge, sampleQueries } from "./questions.ts";
import { createSceneCorpus, momentOf } from "./scene-corpus.ts";

/** An archive that is generated from the project's own words, and queries about it. */
export interface GeneratedArchive {
  segments: SegmentFields[];
  queries: { text: string; relevantIds: ReadonlySet<string> }[];
}

/**
 * Generates scenes that captions, speech and slides tell, and queries in the words of others. Every
 * fourth query asks for what isn't there. The same seed gives the same archive.
 */
export function generateArchive(
  sceneCount: number,
  queryCount: number,
  seed: number,
): GeneratedArchive {
  const random = createRandom(seed);
  const photos = generateScenes(sceneCount, random).map((captions) => ({ path: "", captions }));
  const { segments, truths, queryCorpus } = createSceneCorpus(photos, random);
  const judge = createJudge(truths);
  const ids = new Map(segments.map((segment) => [keyOf(momentOf(segment)), segment.segmentId]));
  const queries = sampleQueries(queryCorpus, queryCount, random).map((question) => {
    const relevantIds = judge(question).relevant.map((truth) => ids.get(keyOf(truth))!);
    return { text: question.text, relevantIds: new Set(relevantIds) };
  });
  return { segments, queries };
}

function keyOf({ file, at }: Pick<GroundTruth, "file" | "at">): string {
  return `${file} ${at}`;
}
