import type { IndexId } from "../ids.ts";
import { objectMethods } from "../object-calls.ts";

/** The one writer of an index: `durable/media-index.ts`. */
export function indexObject(env: Pick<Env, "MEDIA_INDEX">, indexId: IndexId) {
  return objectMethods(env, "MEDIA_INDEX", indexId, "The object of the index");
}
