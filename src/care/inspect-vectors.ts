import { MODELS } from "../config.ts";
import type { VectorId } from "../ids.ts";
import { smallThings } from "../ingest/small-things.ts";
import type { SegmentHealth } from "../store/health.ts";
import { listVectorModels, pictureIds, regionIds, textIds, vectorId } from "../store/vectors.ts";
import { TEXT_KINDS } from "../types.ts";
import { type Finding, findingAbout } from "./findings.ts";
import type { PictureSpace } from "./picture-space.ts";

/** What a segment should have in a space, of all ids that it may have there. */
interface Expected {
  possible: VectorId[];
  /** Of these, the ones that must be there. */
  ids: VectorId[];
  /** That should have made them; null: whichever did. */
  model: string | null;
  /** Of these, the ones that are known to be out of date. */
  stale: VectorId[];
}

/** Whether each segment has the vectors of its words and pictures, and no others, of the present models. */
export async function inspectVectors(
  env: Pick<Env, "TEXT_VECTORS" | "PICTURE_VECTORS">,
  segments: SegmentHealth[],
  space: PictureSpace,
): Promise<Finding[]> {
  const pictures = segments.map((segment) => expectedPictures(segment, space));
  const [texts, looks] = await Promise.all([
    compare(env.TEXT_VECTORS, segments.map(expectedTexts)),
    space === "none" ? NOTHING : compare(env.PICTURE_VECTORS, pictures),
  ]);
  return [
    ...findingAbout(
      "vectors_missing",
      [...texts.missing, ...looks.missing],
      "One vector is missing.",
      (n) => `${n} vectors are missing.`,
    ),
    ...findingAbout(
      "vectors_stale",
      [...texts.stale, ...looks.stale],
      "One vector is of another model, or of other words.",
      (n) => `${n} vectors are of another model, or of other words.`,
    ),
    ...findingAbout(
      "vectors_surplus",
      [...texts.surplus, ...looks.surplus],
      "One vector stands for nothing.",
      (n) => `${n} vectors stand for nothing.`,
    ),
  ];
}

function expectedTexts(segment: SegmentHealth): Expected {
  const { segmentId, textModel, unembedded } = segment;
  const kinds = TEXT_KINDS.filter((kind) => segment[kind]);
  const ids = kinds.map((kind) => vectorId(segmentId, kind));
  const speech = vectorId(segmentId, "speech");
  const isStale = textModel !== null && textModel !== MODELS.embedText.id;
  const stale = isStale ? ids : unembedded ? [speech] : [];
  return { possible: textIds(segmentId), ids, model: MODELS.embedText.id, stale };
}

/** Where the space doesn't say who it is, what was made once must be there, whoever made it. */
function expectedPictures(
  { segmentId, seen, boxes, pictureModel }: SegmentHealth,
  space: PictureSpace,
): Expected {
  const model = typeof space === "object" ? space.model : null;
  const isWanted = seen && (model !== null || pictureModel !== null);
  const regions = regionIds(segmentId).slice(0, smallThings(boxes).length);
  const ids = isWanted ? [vectorId(segmentId, "picture"), ...regions] : [];
  return { possible: pictureIds(segmentId), ids, model, stale: [] };
}

interface Compared {
  missing: string[];
  stale: string[];
  surplus: string[];
}

const NOTHING: Compared = { missing: [], stale: [], surplus: [] };

async function compare(index: VectorizeIndex, expected: Expected[]): Promise<Compared> {
  const models = await listVectorModels(
    index,
    expected.flatMap(({ possible }) => possible),
  );
  const compared: Compared = { missing: [], stale: [], surplus: [] };
  for (const { possible, ids, model, stale } of expected) {
    for (const id of possible) {
      if (!models.has(id)) {
        if (ids.includes(id)) compared.missing.push(id);
      } else if (stale.includes(id)) compared.stale.push(id);
      else if (!ids.includes(id)) compared.surplus.push(id);
      else if (model !== null && models.get(id) !== model) compared.stale.push(id);
    }
  }
  return compared;
}
