import { AppError } from "../errors.ts";
import type { IndexId } from "../ids.ts";
import type { SignatureHit } from "../store/signatures.ts";
import { listUnknownAssets } from "../store/assets.ts";
import { listSegmentsOf } from "../store/segments.ts";
import { getVectors } from "../store/vectors.ts";
import { TEXT_KINDS } from "../types.ts";
import { mix } from "./channels.ts";

/** The very same footage or picture, where it is stored. */
export interface Same extends SignatureHit {
  /** The stored stretch that is asked about, in ms of its video; null where nothing tells the times. */
  span: { startMs: number; endMs: number } | null;
}

/** What hits should be like. */
export interface Likeness {
  /** In the picture space; null where nothing is known of its looks. */
  looks: number[] | null;
  /** In the text space; null where nothing is known of its words. */
  meaning: number[] | null;
  /** Where the very same footage or picture is, edited or not; null where none is asked about. */
  same: Same[] | null;
  /** Why its looks or meaning aren't known, where a model is out. */
  outage: AppError | null;
  /** What is asked about is no answer: a segment, or all of an asset. */
  except: { segmentId: string | null; assetId: string | null };
}

/** As many vectors as Vectorize gives in one call. */
const SAMPLE = 20;

/**
 * The likeness of a segment, or of an asset as the mean of its segments (20 at most, evenly taken); null
 * of one that has none yet. Throws `not_found` where the index has no such id.
 */
export async function likenessOf(env: Env, indexId: IndexId, id: string): Promise<Likeness | null> {
  const ids = await listSegmentsOf(env.DB, indexId, id);
  if (ids.length === 0) {
    const [unknown] = await listUnknownAssets(env.DB, indexId, [id]);
    if (unknown === undefined) return null;
    throw new AppError("not_found", `There is no segment or asset "${id}" in this index.`);
  }
  const every = Math.max(1, ids.length / SAMPLE);
  const sample = Array.from({ length: Math.min(SAMPLE, ids.length) }, (_, i) => {
    return ids[Math.floor(i * every)]!;
  });
  const [pictures, ...texts] = await Promise.all([
    getVectors(env.PICTURE_VECTORS, sample, "picture"),
    ...TEXT_KINDS.map((kind) => getVectors(env.TEXT_VECTORS, sample, kind)),
  ]);
  const words = texts.flat();
  return {
    looks: pictures.length > 0 ? mix(pictures) : null,
    meaning: words.length > 0 ? mix(words) : null,
    same: null,
    outage: null,
    except: ids[0] === id ? { segmentId: id, assetId: null } : { segmentId: null, assetId: id },
  };
}
