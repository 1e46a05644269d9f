import { env } from "cloudflare:workers";
import { inject } from "vitest";
import * as z from "zod";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import { localSpace } from "./bindings.ts";

/** A call of a binding and the schema of its result. */
export interface BindingCall {
  name: string;
  run: () => Promise<unknown>;
  shape: z.ZodType;
}

/** Declares a call. `run` has the type of production's binding; `shape` must match its result. */
function call<Output>(
  name: string,
  run: () => Promise<Output>,
  shape: z.ZodType<NoInfer<Output>>,
): BindingCall {
  return { name, run, shape };
}

const ai: Ai = env.AI;
const frames: MediaBinding = localMedia(env);
const images: ImagesBinding = localImages(env);
/** Leaves out `describe`: its published type says number where the service returns text. */
const space: Omit<Vectorize, "describe"> = localSpace("TEXT_VECTORS_1");

const DIMENSIONS = 1024;
const values = Array.from({ length: DIMENSIONS }, (_, at) => (at === 0 ? 1 : 0));
const vector = { id: "typed", values, namespace: "typed", metadata: { asset_id: "a" } };
const scope = { namespace: "typed", topK: 1 };

async function file(name: string): Promise<ReadableStream<Uint8Array>> {
  const { body } = await fetch(`${inject("filesOrigin")}/${name}`);
  if (!body) throw new Error(`${name} is empty`);
  return body;
}

async function dataUri(name = "words.jpg"): Promise<string> {
  const bytes = await new Response(await file(name)).arrayBuffer();
  return `data:image/jpeg;base64,${Buffer.from(bytes).toString("base64")}`;
}

const Vector = z.array(z.number()).length(DIMENSIONS);
const Mutation = z.strictObject({ mutationId: z.uuid() });
const Metadata = z.strictObject({ asset_id: z.string() });
const Match = z.strictObject({
  id: z.literal("typed"),
  namespace: z.literal("typed"),
  score: z.number().min(0.999).max(1.001),
});
const matches = <Shape extends z.ZodType>(match: Shape) =>
  z.strictObject({ count: z.literal(1), matches: z.array(match).length(1) });
const tokens = z.int().positive();
const fraction = z.number().min(0).max(1);
const bytes = z.instanceof(ReadableStream<Uint8Array>);
const responseOf = (type: string) =>
  z.instanceof(Response).refine(({ ok, headers }) => ok && headers.get("content-type") === type);
const ImageResult = z
  .custom<ImageTransformationResult>()
  .refine(
    (result) =>
      result.contentType() === "image/webp" &&
      result.response().headers.get("content-type") === "image/webp",
  );

export const CALLS: Record<string, BindingCall[]> = {
  AI: [
    call(
      "text embeddings",
      () => ai.run("@cf/baai/bge-m3", { text: ["a dog", "a cat"] }),
      z.strictObject({
        shape: z.tuple([z.literal(2), z.literal(DIMENSIONS)]),
        data: z.array(Vector).length(2),
        pooling: z.literal("cls"),
      }),
    ),
    call(
      "JSON facts about an image",
      async () =>
        ai.run("@cf/google/gemma-4-26b-a4b-it", {
          messages: [
            { role: "system", content: "Describe the picture." },
            {
              role: "user",
              content: [{ type: "image_url", image_url: { url: await dataUri() } }],
            },
          ],
          response_format: {
            type: "json_schema",
            json_schema: {
              name: "image_facts",
              schema: { type: "object", properties: { text: { type: "string" } } },
            },
          },
        }),
      z.strictObject({
        id: z.string().min(1),
        object: z.literal("chat.completion"),
        created: z.int().positive(),
        model: z.string().min(1),
        choices: z.tuple([
          z.strictObject({
            index: z.literal(0),
            message: z.strictObject({
              role: z.literal("assistant"),
              content: z.string().includes("LANTERN"),
              refusal: z.null(),
            }),
            finish_reason: z.literal("stop"),
            logprobs: z.null(),
          }),
        ]),
        usage: z.strictObject({
          prompt_tokens: tokens,
          completion_tokens: tokens,
          total_tokens: tokens,
        }),
      }),
    ),
    call(
      "boxes of an object",
      async () =>
        ai.run("@cf/moondream/moondream3.1-9B-A2B", {
          task: "detect",
          image: await dataUri("clock.jpg"),
          target: "clock",
          max_objects: 20,
          reasoning: false,
          stream: false,
        }),
      z.strictObject({
        finish_reason: z.literal("stop"),
        metrics: z.strictObject({
          input_tokens: tokens,
          output_tokens: tokens,
          prefill_time_ms: z.number(),
          decode_time_ms: z.number(),
          ttft_ms: z.number(),
        }),
        objects: z
          .array(
            z.strictObject({ x_min: fraction, y_min: fraction, x_max: fraction, y_max: fraction }),
          )
          .min(1),
      }),
    ),
  ],
  VECTORS: [
    call("upsert", () => space.upsert([vector]), Mutation),
    call("insert", () => space.insert([vector]), Mutation),
    call("query", () => space.query(values, scope), matches(Match)),
    call(
      "query by id with values and metadata",
      () => space.queryById("typed", { ...scope, returnValues: true, returnMetadata: "all" }),
      matches(Match.extend({ values: Vector, metadata: Metadata })),
    ),
    call(
      "query with a filter",
      () =>
        space.query(Float32Array.from(values), {
          ...scope,
          returnMetadata: "indexed",
          filter: { asset_id: { $in: ["a"] } },
        }),
      matches(Match.extend({ metadata: Metadata })),
    ),
    call(
      "getByIds",
      () => space.getByIds(["typed", "missing"]),
      z.array(Match.omit({ score: true }).extend({ values: Vector, metadata: Metadata })).length(1),
    ),
    call("deleteByIds", () => space.deleteByIds(["typed"]), Mutation),
  ],
  FRAMES: [
    call(
      "a frame as a response",
      async () =>
        frames
          .input(await file("clip.mp4"))
          .transform({ width: 160, height: 90, fit: "scale-down" })
          .output({ mode: "frame", time: "1s", format: "png" })
          .response(),
      responseOf("image/png"),
    ),
    call(
      "the bytes of a contact sheet",
      async () =>
        frames
          .input(await file("clip.mp4"))
          .transform({ width: 80 })
          .output({ mode: "spritesheet", time: "0s", duration: "2s", imageCount: 4 })
          .media(),
      bytes,
    ),
    call(
      "the content type of audio",
      async () =>
        frames
          .input(await file("clip.mp4"))
          .output({ mode: "audio", duration: "2s", format: "m4a" })
          .contentType(),
      z.literal("audio/mp4"),
    ),
    call(
      "a clip",
      async () =>
        frames
          .input(await file("clip.mp4"))
          .output({ mode: "video", time: "1s", duration: "2s", audio: false })
          .response(),
      responseOf("video/mp4"),
    ),
  ],
  IMAGES: [
    call(
      "info",
      async () => images.info(await file("rotated.jpg")),
      z.strictObject({
        format: z.literal("image/jpeg"),
        fileSize: z.int().positive(),
        width: z.int().positive(),
        height: z.int().positive(),
      }),
    ),
    call(
      "a foreground",
      async () =>
        images
          .input(await file("boats.jpg"))
          .transform({ width: 64, height: 64, fit: "cover", gravity: "center" })
          .transform({ rotate: 90, segment: "foreground" })
          .output({ format: "image/webp" }),
      ImageResult,
    ),
    call(
      "the pixels of a cropped foreground",
      async () => {
        const trim = { left: 200, top: 100, width: 500, height: 500 };
        const result = await images
          .input(await file("clock.jpg"))
          .transform({ trim, width: 50, height: 50, fit: "squeeze", segment: "foreground" })
          .output({ format: "rgba" });
        return (await result.response().bytes()).length;
      },
      z.literal(50 * 50 * 4),
    ),
  ],
};
