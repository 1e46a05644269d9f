import type { IndexId } from "../ids.ts";

/** The one writer of an index: `durable/media-index.ts`. */
export function indexObject(env: Pick<Env, "MEDIA_INDEX">, indexId: IndexId) {
  return env.MEDIA_INDEX.getByName(indexId);
}
