import { parse, type ParseError, printParseErrorCode } from "jsonc-parser";
import * as z from "zod";
import { MODELS } from "../config.ts";
import { boundingBox, descriptionText, label, MAX_DESCRIPTION } from "../description.ts";
import { AppError } from "../errors.ts";
import { Remembered } from "../isolate-memory.ts";
import { DESCRIBE_IMAGE, jsonSchemaPrompt } from "../prompts.ts";
import { trimEndOf } from "../trim-end.ts";
import type { Description } from "../types.ts";
import { UNSEGMENTED_SCRIPT } from "../unsegmented-scripts.ts";
import { chatChunk, ReasoningFilter } from "./generate.ts";
import { dataUri, runModel } from "./run.ts";

const { id, maxItems, maxTokens, timeoutMs } = MODELS.describe;

/** Temperatures of the first call, and of a second one if the reply can't be read. */
const TEMPERATURES = [0, 0.7] as const;

/**
 * Describes a JPEG in one structured model call: caption, on-screen text, labels and boxes. Asks
 * once more, at another temperature, if the reply has no caption; then throws
 * `model_output_unreadable`. Throws the errors of `runModel`; `model_request_rejected` if the model
 * rejects every form of the request.
 */
export async function describeImage(ai: Ai, jpeg: Uint8Array): Promise<Description> {
  for (const temperature of TEMPERATURES) {
    const reply = await requestDescription(ai, jpeg, temperature).catch(nullIfUnreadable);
    const filter = new ReasoningFilter();
    const description = readDescription(filter.remove(reply?.text ?? "") + filter.end());
    if (description) return { model: reply?.model ?? id, ...description };
  }
  const message = `The model ${id} described the image twice in a form that can't be read.`;
  throw new AppError("model_output_unreadable", message);
}

/** The model couldn't write JSON. */
function nullIfUnreadable(error: unknown): null {
  if (error instanceof AppError && error.code === "model_output_unreadable") return null;
  throw error;
}

/**
 * Forms of a request for JSON. Cloudflare's types have OpenAI's wrapper, its page on JSON mode has
 * the bare schema (https://developers.cloudflare.com/workers-ai/features/json-mode/), and some
 * models take neither.
 */
const FORMS = ["wrapped", "bare", "json_object"] as const;
type Form = (typeof FORMS)[number];
const acceptedForm = new Remembered<Form>(FORMS[0]);

/** Sends the form that the model accepted last, and if it rejects that, the others. */
async function requestDescription(ai: Ai, jpeg: Uint8Array, temperature: number) {
  const question = [
    { type: "text", text: DESCRIBE_IMAGE },
    { type: "image_url", image_url: { url: dataUri(jpeg) } },
  ];
  const messages = [{ role: "user", content: question }];
  const system = { role: "system", content: jsonSchemaPrompt(DESCRIPTION_SCHEMA) };
  const wrapper = { name: "reply", schema: DESCRIPTION_SCHEMA };
  const inputs = {
    wrapped: { messages, response_format: { type: "json_schema", json_schema: wrapper } },
    bare: { messages, response_format: { type: "json_schema", json_schema: DESCRIPTION_SCHEMA } },
    json_object: { messages: [system, ...messages], response_format: { type: "json_object" } },
  };
  const settings = {
    max_tokens: maxTokens,
    temperature,
    chat_template_kwargs: { enable_thinking: false },
  };
  let refusal: unknown;
  const others = FORMS.filter((form) => form !== acceptedForm.value);
  for (const form of [acceptedForm.value, ...others]) {
    try {
      const input = { ...inputs[form], ...settings };
      const reply = await runModel(ai, id, input, chatChunk, timeoutMs);
      acceptedForm.value = form;
      return reply;
    } catch (error) {
      if (!(error instanceof AppError && error.code === "model_request_rejected")) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/**
 * JSON schema of the reply that a model is asked for. The caption comes first: models write
 * properties in this order, and what comes last is lost if the reply is cut off.
 */
const DESCRIPTION_SCHEMA = z.toJSONSchema(
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
 * Reads a description from a model's reply, even if it is cut off or surrounded by other text, such
 * as prose and code fences. Leaves out invalid labels and boxes. Returns null if the reply has no
 * caption.
 */
export function readDescription(reply: string): Omit<Description, "model"> | null {
  const text = reply.replaceAll(CONTROL_CHARACTERS, " ").split(DEEP_NESTING, 1)[0]!.trimEnd();
  for (const { index } of [...text.matchAll(OBJECT_START)].slice(0, MAX_OBJECTS)) {
    const parsed = description.safeParse(parseObject(text.slice(index)));
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
const DEEP_NESTING = // bounded: a reply of 2,000 tokens
  /(?:[[{]\s*(?:"[^"]*"\s*:\s*)?){16}/;
/** A character of a number at the end of a text, which may lack digits. */
const LAST_NUMBER = /[-+.\deE]/;
/** A character of the last word of a text, which may lack letters. */
const LAST_WORD = new RegExp(`(?!${UNSEGMENTED_SCRIPT})\\S`, "u");

/**
 * Parses the JSON object at the start of a text. One that is cut off has what comes before the cut,
 * without the word or number at the cut.
 */
function parseObject(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors);
  const cutString = errors.find(
    ({ error, offset, length }) =>
      printParseErrorCode(error) === "UnexpectedEndOfString" && offset + length === text.length,
  );
  if (!cutString) {
    const whole = trimEndOf(text, LAST_NUMBER);
    return whole === text ? value : parse(whole);
  }
  const [before, string] = [text.slice(0, cutString.offset), text.slice(cutString.offset)];
  const words = trimEndOf(string, LAST_WORD);
  return parse(before + (words === string ? string : words.trimEnd()));
}
