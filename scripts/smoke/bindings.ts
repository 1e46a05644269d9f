import { readFile } from "node:fs/promises";
import { PermissionError, type Sightline } from "sightline";
import { CODEC_RAMP, RAMP, rampSeconds, type SmokeFiles } from "./files.ts";

/** A call of a binding: one of both is null. */
interface Observed<Value> {
  value: Value | null;
  error: BindingError | null;
}

interface BindingError {
  /** Code of Cloudflare. */
  code: string | null;
  /** Error of the service that it leads to. */
  meaning: string;
}

interface Size {
  width: number;
  height: number;
}

type ObservedFrame = Observed<Size & { luma: number }>;

/** What the bindings of a deployment answered: `POST /health/bindings`. */
export interface BindingRecord {
  contact_sheet: Observed<
    Size & { columns: number; size_of: "tile" | "sheet"; tile_lumas: number[] }
  > | null;
  frame: ObservedFrame | null;
  /** The same frame by the decoder; null without one. */
  decoder: ObservedFrame | null;
  codecs: (ObservedFrame & { codec: string | null; is_listed: boolean })[];
  images: Observed<Size & { format: string }>[];
  descriptions: (Observed<unknown> & { form: string })[];
  image_embeddings: (Observed<{ dimensions: number | null; outline: unknown }> & {
    form: string;
    input: string;
  })[];
  vectors: Observed<{
    waiting: string | null;
    found_after_seconds: number | null;
    cosine: number;
    score: number | null;
    exact_score: number | null;
  }>;
  database: { limit: string; size: number; error: BindingError | null }[];
}

/** Images that are sent, in this order. */
export const [PAGE_IMAGE, DAMAGED_IMAGE, WIDE_IMAGE] = [0, 1, 2] as const;

/** Has a service observe its bindings. Returns null if the key lacks the scope `operator`. */
export async function observeBindings(
  sightline: Sightline,
  files: SmokeFiles,
): Promise<BindingRecord | null> {
  const encode = (path: string) => readFile(path, "base64");
  const { ramp, codecs, page, damaged, wide } = files;
  const images = await Promise.all([page, damaged, wide].map(encode));
  try {
    const videos = await Promise.all(codecs.map(encode));
    const samples = { video: await encode(ramp), videos, images };
    const record = (await sightline.observeBindings(samples)) as BindingRecord;
    for (let vector; (vector = record.vectors.value?.waiting);) {
      const { vectors } = await sightline.observeBindings({ vector }); // waits for some seconds
      record.vectors = vectors;
    }
    return record;
  } catch (error) {
    if (error instanceof PermissionError) return null;
    throw error;
  }
}

/** Returns the seconds of the ramp that the tiles of its contact sheet show, in their order. */
export function tileSeconds({ contact_sheet: sheet }: BindingRecord): number[] {
  return sheet?.value?.tile_lumas.map(rampSeconds) ?? [];
}

/** Formats why a binding refused a call. */
export function refusalOf(error: BindingError | null | undefined): string {
  return error ? `refused with ${error.code ?? "no code"} (${error.meaning})` : "nothing";
}

/** Returns whether a frame of the ramp is the one that was asked for. */
export function checkFrame(frame: ObservedFrame | null): { holds: boolean; seen: string } {
  if (!frame?.value) return { holds: false, seen: refusalOf(frame?.error) };
  const at = rampSeconds(frame.value.luma);
  const holds = at <= RAMP.frameSeconds && RAMP.frameSeconds < at + RAMP.stepSeconds;
  return { holds, seen: `for ${RAMP.frameSeconds} s, one that is there from ${at} s on` };
}

/** Formats the tiles of the contact sheet. */
export function tilesOf(bindings: BindingRecord): string {
  const { value, error } = bindings.contact_sheet ?? { value: null, error: null };
  if (!value) return refusalOf(error);
  const { width, height, columns } = value;
  const seconds = tileSeconds(bindings).join(", ");
  return `${width} × ${height}, ${columns} in a row, sized by ${value.size_of}, from ${seconds} s`;
}

/**
 * Returns the length of the vectors of an image and a text, null if the model doesn't embed both or
 * not alike, and what it answered to each form of input.
 */
export function readEmbeddings({ image_embeddings: replies }: BindingRecord) {
  const lengthOf = (kind: string): number | null => {
    const reply = replies.find(({ input, value }) => input === kind && value?.dimensions);
    return reply?.value?.dimensions ?? null;
  };
  const [text, image] = [lengthOf("text"), lengthOf("image")];
  const seen = replies.map(({ form, input, value, error }) => {
    const outcome = error ? refusalOf(error) : `${value?.dimensions ?? "no"} dimensions`;
    return `${input} as ${form}: ${outcome}`;
  });
  return { dimensions: text === image ? text : null, seen: seen.join(", ") };
}

/** Lists the codecs that FRAMES decoded into the right frame. */
export function decodedCodecs({ codecs }: BindingRecord): string[] {
  return codecs.flatMap(({ codec, value }) => {
    const at = value && rampSeconds(value.luma);
    const isRight =
      at !== null &&
      at <= CODEC_RAMP.frameSeconds &&
      CODEC_RAMP.frameSeconds < at + RAMP.stepSeconds;
    return codec !== null && isRight ? [codec] : [];
  });
}

/** Returns the JSON that a model replied, as an object; null if it replied something else. */
export function readReply(reply: unknown): object | null {
  const { choices, response }: ChatReply = isObject(reply) ? reply : {};
  const content = choices?.[0]?.message?.content ?? response;
  if (isObject(content)) return content;
  try {
    const json: unknown = JSON.parse(String(content));
    return isObject(json) ? json : null;
  } catch {
    return null;
  }
}

interface ChatReply {
  choices?: { message?: { content?: unknown } }[];
  response?: unknown;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Lists what other deployments, and the stand-ins, should answer alike: codes, sizes, times and the
 * shapes of replies. The columns of a contact sheet may differ.
 */
export function listFacts(seen: BindingRecord): Map<string, string> {
  const { contact_sheet: sheet, frame, codecs, images, descriptions, vectors, database } = seen;
  const { image_embeddings: embeddings, decoder } = seen;
  const describeFrame = ({ width, height, luma }: Size & { luma: number }) => {
    return [width, height, rampSeconds(luma)];
  };
  const outcome = <Value>(
    observed: Observed<Value> | null,
    describe: (value: Value) => unknown,
  ) => {
    if (!observed) return "none";
    const { value, error } = observed;
    return value === null ? `refused: ${error?.code}` : JSON.stringify(describe(value));
  };
  return new Map([
    ["contact sheet", outcome(sheet, () => tileSeconds(seen))],
    ["size of a contact sheet", outcome(sheet, ({ size_of }) => size_of)],
    ["frame", outcome(frame, describeFrame)],
    ["frame of the decoder", outcome(decoder, describeFrame)],
    ...codecs.map((codec) => {
      const describe = ({ luma }: { luma: number }) => rampSeconds(luma);
      return [`codec ${codec.codec}`, outcome(codec, describe)] as const;
    }),
    ...images.map((image, i) => [`image ${i + 1}`, outcome(image, (info) => info)] as const),
    ...descriptions.map((reply) => {
      return [`reply to ${reply.form}`, outcome(reply, shapeOf)] as const;
    }),
    ...embeddings.map((reply) => {
      return [
        `${reply.input} embedded as ${reply.form}`,
        outcome(reply, (value) => value),
      ] as const;
    }),
    ["vectors", outcome(vectors, ({ score }) => score !== null)],
    ...database.map(({ limit, size, error }) => {
      return [`${limit}: ${size}`, error ? `refused: ${error.code}` : "taken"] as const;
    }),
  ]);
}

/** Replaces each value by its type, and a list by the shape of its first item. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (!isObject(value)) return value === null ? "null" : typeof value;
  const entries = Object.entries(value).toSorted(([a], [b]) => a.localeCompare(b));
  return Object.fromEntries(entries.map(([name, item]) => [name, shapeOf(item)]));
}
