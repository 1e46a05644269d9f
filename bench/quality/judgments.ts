import { join } from "node:path";
import { JOINT_SPACE_FILE } from "../../local/engine/joint-space/space.ts";
import { loadPhotoVectors } from "../../tools/calibration/photo-vectors.ts";
import type { Suite } from "../../tools/suite.ts";
import type { CaptionedPhoto } from "../../tools/training/captions.ts";
import { captionSimilarity } from "../caption-similarity.ts";
import {
  type EmbeddedPhotos,
  embedPhotos,
  openPhotoArchive,
  shareFound,
  type SimulatedUser,
} from "../simulated-feedback.ts";

/** Photos of the archive, of which captions are queries. */
const PHOTOS = 400;
/** Least share that is found by judging new results only. */
const MIN_FOUND = 0.6;
const NEW_ONLY = "new results only";

/**
 * Refines searches of photos, with a description each and without: as a user judges who compares
 * captions, one who compares as the image model does, and one who only reads on.
 */
async function measureRefined(photos: readonly CaptionedPhoto[], embedded: EmbeddedPhotos) {
  const byCaptions = captionSimilarity(photos);
  const byModel = (one: number, other: number) => {
    const [a, b] = [embedded.images[one]!, embedded.images[other]!];
    return Array.from(a).reduce((sum, value, i) => sum + value * b[i]!, 0);
  };
  const users: Record<string, SimulatedUser> = {
    "all results again": { similarity: byCaptions, skipsRead: false },
    [NEW_ONLY]: { similarity: byCaptions, skipsRead: true },
    "new results, nothing judged": { similarity: null, skipsRead: true },
    "all again, judged by the model": { similarity: byModel, skipsRead: false },
    "new only, judged by the model": { similarity: byModel, skipsRead: true },
  };
  const rows = [];
  for (const described of [false, true]) {
    const archive = await openPhotoArchive(photos, embedded, described);
    for (const [name, user] of Object.entries(users)) {
      rows.push({ user: name, described, ...(await shareFound(archive, user)) });
    }
  }
  return rows;
}

export const suite: Suite = {
  summary: "what is found in refined searches of photos",
  async run({ dataDir, log, signal }) {
    const vectors = await loadPhotoVectors([join(dataDir, "photos")], JOINT_SPACE_FILE, log);
    const photos = vectors.photos.slice(0, PHOTOS);
    log(`${photos.length} photos …`);
    const refined = await measureRefined(photos, await embedPhotos(vectors, photos, signal));
    const isTooLow = refined.some(({ user, share }) => user === NEW_ONLY && share < MIN_FOUND);
    const table = refined.map((row) => ({ ...row, described: String(row.described) }));
    return { table, json: { refined }, problems: Number(isTooLow) };
  },
};
