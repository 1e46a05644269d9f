import type { Random } from "../random-numbers.ts";
import { syntheticId, type SegmentFields, VIDEO_SEGMENTS } from "../segment-batch.ts";
import type { CaptionedPhoto } from "../training/captions.ts";
import type { Corpus, GroundTruth } from "./judgments.ts";

/** Videos whose scenes people described in words: no model has to analyse them. */
export interface SceneCorpus extends Corpus {
  segments: SegmentFields[];
  /** The same videos with the captions that no segment contains: the source of queries. */
  queryCorpus: Corpus;
}

/** Duration of a segment. */
const SEGMENT_SECONDS = 5;
/** Captions of a photo that may be in a segment; the rest are for queries. */
const TEXT_CAPTIONS = 3;
/** Share of the photos that is left out. */
const ABSENT_SHARE = 0.1;

/**
 * Makes a scene of each photo. Half of the scenes have two captions as description only; a quarter
 * also has a third one as speech; some have a caption of another photo as speech; some are slides
 * that are read aloud. The last photos are left out.
 */
export function createSceneCorpus(photos: CaptionedPhoto[], random: Random): SceneCorpus {
  const present = photos.slice(0, Math.floor(photos.length * (1 - ABSENT_SHARE)));
  const segments: SegmentFields[] = [];
  const [truths, queryTruths]: [GroundTruth[], GroundTruth[]] = [[], []];
  for (const [i, { captions }] of present.entries()) {
    const assetId = syntheticId("vid", Math.floor(i / VIDEO_SEGMENTS));
    const position = i % VIDEO_SEGMENTS;
    const [first = "", second = "", third = ""] = captions;
    const other = present[Math.floor(random() * present.length)]!.captions;
    const kind = random();
    const text = { caption: `${first} ${second}`, transcript: "", onScreenText: "" };
    if (kind >= 0.9) Object.assign(text, { caption: "A page of words.", onScreenText: first });
    if (kind >= 0.5) text.transcript = kind < 0.75 || kind >= 0.9 ? third : other[0]!;
    segments.push({ segmentId: syntheticId("seg", i), assetId, position, ...text });
    const range = momentOf({ assetId, position });
    const contents = kind >= 0.75 && kind < 0.9 ? [captions, other] : [captions];
    for (const texts of contents) {
      truths.push({ ...range, captions: texts });
      queryTruths.push({ ...range, captions: texts.slice(TEXT_CAPTIONS) });
    }
  }
  const absentCaptions = photos.slice(present.length).flatMap(({ captions }) => captions);
  const corpus = { files: [], absentCaptions };
  return { ...corpus, truths, segments, queryCorpus: { ...corpus, truths: queryTruths } };
}

/** Returns the middle of a segment, where a truth is about it. */
export function momentOf({ assetId, position }: Pick<SegmentFields, "assetId" | "position">) {
  return { file: `${assetId}.mp4`, at: (position + 0.5) * SEGMENT_SECONDS };
}
