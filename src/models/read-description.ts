import { parse, printParseErrorCode, type ParseError } from "jsonc-parser";
import { z } from "zod";
import { MODELS } from "../config.ts";
import { boundingBox, descriptionText, label, MAX_DESCRIPTION } from "../description.ts";
import type { Description } from "../types.ts";
import { UNSEGMENTED_SCRIPT } from "../unsegmented-scripts.ts";

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

/** Fractions of the image, from thousandths. */
const fraction = z.number().transform((thousandths) => clamp(thousandths / 1000));
const box = z
  .object({
    label: z.string(),
    score: z.number().transform(clamp),
    box_2d: z.tuple([fraction, fraction, fraction, fraction]),
  })
  .transform(({ label, score, box_2d: [yMin, xMin, yMax, xMax] }) => {
    return { label, score, x: xMin, y: yMin, width: xMax - xMin, height: yMax - yMin };
  })
  .pipe(boundingBox);
/** The beginning of a text that is too long. */
const text = z
  .string()
  .transform((whole) => whole.slice(0, MAX_DESCRIPTION.characters))
  .pipe(descriptionText);
const lines = z.array(z.string()).transform((texts) => texts.join("\n"));
const description = z.object({
  caption: text,
  text: z.union([z.string(), lines]).catch("").pipe(text),
  labels: validItems(label).transform((labels) => [...new Set(labels)]),
  objects: validItems(box),
});

/**
 * Reads a description from a model's reply, even if it is cut off or surrounded by other text.
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
    .transform((items) => items.slice(0, MAX_DESCRIPTION.items).flatMap(parse));
}

function clamp(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}

const OBJECT_START = /\{\s*"/g;
/** Objects that are tried: a reply has one, its boxes and perhaps a few in its prose. */
const MAX_OBJECTS = 100;
/** Line breaks and tabs, which models write although JSON strings escape them. */
const CONTROL_CHARACTERS = /\p{Cc}+/gu;
/** Nesting that no reply needs. The parser recurses, and models may repeat a bracket endlessly. */
const DEEP_NESTING = /(?:[[{]\s*(?:"[^"]*"\s*:\s*)?){16}/;
/** A number at the end of a text, which may lack digits. */
const LAST_NUMBER = /[-+.\deE]+$/;
/** The last word of a text, which may lack letters. */
const LAST_WORD = new RegExp(`\\s*(?:(?!${UNSEGMENTED_SCRIPT})\\S)+$`, "u");

/**
 * Parses the JSON objects in a model's reply, each before the objects inside it. Skips other text,
 * such as prose and code fences. An object that is cut off has what comes before the cut, without
 * the word or number at the cut.
 */
function* findObjects(reply: string): Generator {
  const text = reply.replaceAll(CONTROL_CHARACTERS, " ").split(DEEP_NESTING, 1)[0]!.trimEnd();
  let count = 0;
  for (const { index } of text.matchAll(OBJECT_START)) {
    if (++count > MAX_OBJECTS) return;
    yield parseObject(text.slice(index));
  }
}

/** Parses the object at the start of a text. */
function parseObject(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors);
  const cutString = errors.find(
    ({ error, offset, length }) =>
      printParseErrorCode(error) === "UnexpectedEndOfString" && offset + length === text.length,
  );
  if (!cutString) return LAST_NUMBER.test(text) ? parse(text.replace(LAST_NUMBER, "")) : value;
  const [before, string] = [text.slice(0, cutString.offset), text.slice(cutString.offset)];
  return parse(before + string.replace(LAST_WORD, ""));
}
