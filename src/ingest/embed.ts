import { INGEST, MODELS } from "../config.ts";
import { embedText } from "../models/embed-text.ts";
import { indexWords, listSegments } from "../store/segments.ts";
import { upsertVectors } from "../store/vectors.ts";
import { type Asset, type Segment, TEXT_KINDS, type TextKind } from "../types.ts";

/** Makes one part's segments findable: a vector for each kind of words, and full-text rows. */
export async function embed(env: Env, asset: Asset, part: number): Promise<void> {
  const from = part * INGEST.partSegments;
  const segments = await listSegments(env.DB, asset.assetId, from, from + INGEST.partSegments);
  const passages = segments.flatMap((segment) =>
    TEXT_KINDS.map((kind) => ({ segment, kind, text: passageOf(segment, kind) })).filter(
      ({ text }) => text !== "",
    ),
  );
  const values = await embedText(
    env.AI,
    passages.map(({ text }) => text),
  );
  const model = MODELS.embedText.id;
  const vectors = passages.map(({ segment, kind }, i) => {
    return { segment, kind, values: values[i]!, model };
  });
  await upsertVectors(env.TEXT_VECTORS, vectors, asset.assetType);
  await indexWords(
    env.DB,
    segments.map(({ segmentId }) => segmentId),
    model,
  );
}

/** The words of a segment that a vector of `kind` stands for. */
function passageOf(segment: Segment, kind: TextKind): string {
  if (kind === "speech") return segment.transcript;
  if (kind === "text") return segment.onScreenText;
  return segment.caption;
}
