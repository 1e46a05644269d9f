import { z } from "zod";
import { MODELS } from "../config.ts";
import type { BoundingBox, Description } from "../types.ts";
import { findObjects } from "./read-json.ts";

const { maxItems } = MODELS.describe;

/**
 * JSON schema of the reply that a model is asked for. The caption comes first: models write
 * properties in this order, and what comes last is lost if the reply is cut off.
 */
export const DESCRIPTION_SCHEMA = z.toJSONSchema(
  z.object({
    caption: z.string(),
    text: z.string(),
    labels: z.array(z.string()).max(maxItems.labels),
    objects: z
      .array(
        z.object({
          label: z.string(),
          score: z.number().min(0).max(1),
          box_2d: z.array(z.number()).length(4),
        }),
      )
      .max(maxItems.boxes),
  }),
);

const label = z.string().trim().min(1);
/** Fractions of the image, from thousandths. */
const fraction = z.number().transform((thousandths) => clamp(thousandths / 1000));
const box = z
  .object({
    label,
    score: z.number().transform(clamp),
    box_2d: z.tuple([fraction, fraction, fraction, fraction]),
  })
  .transform(({ label, score, box_2d: [yMin, xMin, yMax, xMax] }): BoundingBox => {
    return { label, score, x: xMin, y: yMin, width: xMax - xMin, height: yMax - yMin };
  })
  .refine(({ width, height }) => width > 0 && height > 0);
const lines = z.array(z.string()).transform((texts) => texts.join("\n"));
const description = z.object({
  caption: z.string().trim(),
  text: z
    .union([z.string(), lines])
    .catch("")
    .transform((text) => text.trim()),
  labels: validItems(label).transform((labels) => [...new Set(labels)]),
  objects: validItems(box),
});

/**
 * Reads a description from a model's reply, also if it is cut off or surrounded by other text.
 * Leaves out invalid labels and boxes. Returns null if the reply has no caption.
 */
export function readDescription(reply: string): Omit<Description, "model"> | null {
  for (const object of findObjects(reply)) {
    const parsed = description.safeParse(object);
    if (!parsed.success) continue;
    const { objects: boxes, ...texts } = parsed.data;
    return { ...texts, boxes };
  }
  return null;
}

/** Schema of a list that leaves out invalid items. What isn't a list is an empty one. */
function validItems<Item extends z.ZodType>(item: Item) {
  const parse = (value: unknown): z.output<Item>[] => {
    const parsed = item.safeParse(value);
    return parsed.success ? [parsed.data] : [];
  };
  return z
    .array(z.unknown())
    .catch([])
    .transform((items) => items.flatMap(parse));
}

function clamp(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}
