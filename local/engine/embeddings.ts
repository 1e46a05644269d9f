import * as z from "zod";
import { EngineError } from "./errors.ts";
import { openImage } from "./image.ts";
import type { JointSpace } from "./joint-space/space.ts";

/** Length that vectors are padded to with zeros, so that all models fit one Vectorize index. */
export const IMAGE_DIMENSIONS = 768;

const MAX_INPUTS = 64;
/** Base64 characters: 24 MB of bytes. */
const MAX_IMAGE_CHARACTERS = 32_000_000;

const Text = z.strictObject({ text: z.string() });
const Image = z.strictObject({ image: z.string().max(MAX_IMAGE_CHARACTERS) });
const Input = z.union([z.string().transform((text) => ({ text })), Text, Image]);
const Request = z.object({
  model: z.string().optional(),
  input: z.array(Input).min(1).max(MAX_INPUTS),
});

export type EmbeddingInput = z.infer<typeof Input>;

interface Embedding {
  object: "embedding";
  index: number;
  embedding: number[];
}

/** The response format of OpenAI and Jina. */
export interface EmbeddingList {
  object: "list";
  model: string;
  data: Embedding[];
  usage: { prompt_tokens: number; total_tokens: number };
}

/** Parses a `/v1/embeddings` body; it may name no other model. Errors: `bad_request`. */
export function parseInputs(body: Buffer, model: string): EmbeddingInput[] {
  const request = parseRequest(body);
  if (request.model === undefined || request.model === model) return request.input;
  throw new EngineError("bad_request", `There is no such model, only ${model}.`);
}

function parseRequest(body: Buffer): z.infer<typeof Request> {
  try {
    return Request.parse(JSON.parse(body.toString("utf8")));
  } catch (cause) {
    const message = `The body is JSON with "input": 1 to ${MAX_INPUTS} texts, {"text"}s or {"image"}s.`;
    throw new EngineError("bad_request", message, { cause });
  }
}

/** Embeds all inputs in order. Errors: `bad_request`, `undecodable_image`, `too_large`. */
export async function embedInputs(
  space: JointSpace,
  model: string,
  inputs: readonly EmbeddingInput[],
  signal: AbortSignal,
): Promise<EmbeddingList> {
  const texts = inputs.flatMap((input) => ("text" in input ? input.text : []));
  const textVectors = (await space.embedTexts(texts, signal)).values();
  const data: Embedding[] = [];
  for (const [index, input] of inputs.entries()) {
    signal.throwIfAborted();
    const embedding =
      "text" in input
        ? (textVectors.next().value ?? [])
        : await space.embedImage(await openImage(readBase64(input.image)));
    const zeros = Array<number>(IMAGE_DIMENSIONS - embedding.length).fill(0);
    data.push({ object: "embedding", index, embedding: [...embedding, ...zeros] });
  }
  const tokens = space.countTokens(texts);
  return { object: "list", model, data, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** Decodes base64, bare or in a `data:` URL. Errors: `bad_request`. */
export function readBase64(image: string): Buffer {
  const text = image.replace(/^data:[^,]*;base64,/, "");
  if (/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return Buffer.from(text, "base64");
  throw new EngineError("bad_request", "An image is base64, or a data: URL with base64.");
}
