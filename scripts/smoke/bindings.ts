import { readFile } from "node:fs/promises";
import { PermissionError, type Sightline } from "sightline";
import { rampSeconds, type SmokeFiles } from "./files.ts";

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

/** What the bindings of a deployment answered: `POST /health/bindings`. */
export interface BindingRecord {
  contact_sheet: Observed<Size & { columns: number; tile_lumas: number[] }> | null;
  frame: Observed<Size & { luma: number }> | null;
  images: Observed<Size & { format: string }>[];
  descriptions: (Observed<unknown> & { form: string })[];
  vectors: Observed<{
    found_after_seconds: number | null;
    cosine: number;
    score: number | null;
    exact_score: number | null;
  }>;
  database: { limit: string; size: number; error: BindingError | null }[];
}

/** Images that are sent, in this order. */
export const [PAGE_IMAGE, DAMAGED_IMAGE, WIDE_IMAGE] = [0, 1, 2] as const;

/** Has a service observe its bindings. Returns null if the key lacks the scope `admin`. */
export async function observeBindings(
  sightline: Sightline,
  files: SmokeFiles,
): Promise<BindingRecord | null> {
  const encode = (path: string) => readFile(path, "base64");
  const { ramp, page, damaged, wide } = files;
  const images = await Promise.all([page, damaged, wide].map(encode));
  try {
    const samples = { video: await encode(ramp), images };
    return (await sightline.observeBindings(samples)) as BindingRecord;
  } catch (error) {
    if (error instanceof PermissionError) return null;
    throw error;
  }
}

/** Returns the seconds of the ramp that the tiles of its contact sheet show, in their order. */
export function tileSeconds({ contact_sheet: sheet }: BindingRecord): number[] {
  return sheet?.value?.tile_lumas.map(rampSeconds) ?? [];
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
  const { contact_sheet: sheet, frame, images, descriptions, vectors, database } = seen;
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
    ["frame", outcome(frame, ({ width, height, luma }) => [width, height, rampSeconds(luma)])],
    ...images.map((image, i) => [`image ${i + 1}`, outcome(image, (info) => info)] as const),
    ...descriptions.map((reply) => {
      return [`reply to ${reply.form}`, outcome(reply, shapeOf)] as const;
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
