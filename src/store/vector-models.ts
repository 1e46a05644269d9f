import type { Segment } from "../types.ts";
import { IN_JSON } from "./rows.ts";

/** Records which model made the vectors of segments' words; none did where they have none. */
export async function setTextModel(
  db: D1Database,
  segments: Segment[],
  model: string,
): Promise<void> {
  await db
    .prepare(
      `UPDATE segments SET text_model = CASE WHEN caption || transcript || on_screen_text <> '' THEN ? END
       WHERE segment_id ${IN_JSON}`,
    )
    .bind(model, idsOf(segments))
    .run();
}

/** Likewise of their pictures. */
export async function setPictureModel(
  db: D1Database,
  segments: Segment[],
  model: string | null,
): Promise<void> {
  await db
    .prepare(
      `UPDATE segments SET picture_model = CASE WHEN problem IS NULL THEN ? END
       WHERE segment_id ${IN_JSON}`,
    )
    .bind(model, idsOf(segments))
    .run();
}

function idsOf(segments: Segment[]): string {
  return JSON.stringify(segments.map(({ segmentId }) => segmentId));
}
