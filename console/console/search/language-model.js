import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";

/** Whether the service has a language model, as its answers say; null until there is one. */
let isPresent = null;

/** Remembers which model wrote an answer: `extractive` is none. */
export function rememberAuthor(model) {
  isPresent = model !== "extractive";
}

/**
 * Resolves to whether a model can see images, which the answers of this page say, else the captions
 * of a video of the index. True if that isn't known.
 */
export async function canSeeImages(index) {
  if (isPresent !== null) return isPresent;
  try {
    const { videos } = await api("GET", indexPath(index, ["videos"], { limit: 1, state: "ready" }));
    if (videos.length === 0) return true;
    const path = indexPath(index, ["video", videos[0].asset_id, "segments"], { limit: 1 });
    const { segments } = await api("GET", path);
    return segments[0]?.caption_model !== "template";
  } catch {
    return true;
  }
}
