import type { Segment } from "../types.ts";
import type { IndexDb } from "./index-database.ts";
import { HAS_KEYFRAME } from "./segments.ts";
import { inList, raw, sql } from "./sql.ts";

/** Records the model of segments' text vectors: null for segments without text. */
export async function setTextModel(db: IndexDb, segments: Segment[], model: string): Promise<void> {
  const ids = segments.map(({ segmentId }) => segmentId);
  await db.batch([
    sql`UPDATE segments SET text_model =
        (CASE WHEN caption || transcript || on_screen_text <> '' THEN ${model} END)
      WHERE segment_id ${inList(ids)}`,
  ]);
}

/** Records the model of segments' image vectors: null for segments without a keyframe. */
export async function setImageModel(
  db: IndexDb,
  segments: Segment[],
  model: string | null,
): Promise<void> {
  const ids = segments.map(({ segmentId }) => segmentId);
  await db.batch([
    sql`UPDATE segments SET image_model = (CASE WHEN ${raw(HAS_KEYFRAME)} THEN ${model} END)
      WHERE segment_id ${inList(ids)}`,
  ]);
}
