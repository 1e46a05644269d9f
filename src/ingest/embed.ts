import { INGEST, MODELS } from "../config.ts";
import { embedInPictureSpace, hasPictureSpace } from "../models/embed-picture.ts";
import { embedText } from "../models/embed-text.ts";
import { keyframeKey } from "../store/media.ts";
import { indexWords, listSegments } from "../store/segments.ts";
import { type SegmentVector, upsertVectors } from "../store/vectors.ts";
import { type Asset, type Segment, TEXT_KINDS, type TextKind } from "../types.ts";

/**
 * Makes one part's segments findable: a vector for each kind of words, one for the keyframe where
 * there is a picture space, and full-text rows.
 */
export async function embed(env: Env, asset: Asset, part: number): Promise<void> {
  const from = part * INGEST.partSegments;
  const segments = await listSegments(env.DB, asset.assetId, from, from + INGEST.partSegments);
  const [words, pictures] = await Promise.all([
    embedWords(env.AI, segments),
    hasPictureSpace(env) ? embedKeyframes(env, asset, segments) : [],
  ]);
  await upsertVectors(env.TEXT_VECTORS, words, asset.assetType);
  await upsertVectors(env.PICTURE_VECTORS, pictures, asset.assetType);
  await indexWords(env.DB, segments, {
    text: MODELS.embedText.id,
    picture: pictures[0]?.model ?? null,
  });
}

async function embedWords(ai: Ai, segments: Segment[]): Promise<SegmentVector[]> {
  const passages = segments.flatMap((segment) =>
    TEXT_KINDS.map((kind) => ({ segment, kind, text: passageOf(segment, kind) })).filter(
      ({ text }) => text !== "",
    ),
  );
  const vectors = await embedText(
    ai,
    passages.map(({ text }) => text),
  );
  return passages.map(({ segment, kind }, i) => {
    return { segment, kind, values: vectors[i]!, model: MODELS.embedText.id };
  });
}

async function embedKeyframes(
  env: Env,
  asset: Asset,
  segments: Segment[],
): Promise<SegmentVector[]> {
  const seen = segments.filter(({ problem }) => problem === null);
  const objects = await Promise.all(
    seen.map(({ keyframeMs }) => env.MEDIA.get(keyframeKey(asset, keyframeMs))),
  );
  const jpegs = await Promise.all(objects.map((object) => object!.bytes()));
  const { model, vectors } = await embedInPictureSpace(
    env,
    jpegs.map((image) => ({ image })),
  );
  return seen.map((segment, i) => ({ segment, kind: "picture", values: vectors[i]!, model }));
}

/** The words of a segment that a vector of `kind` stands for. */
function passageOf(segment: Segment, kind: TextKind): string {
  if (kind === "speech") return segment.transcript;
  if (kind === "text") return segment.onScreenText;
  return segment.caption;
}
