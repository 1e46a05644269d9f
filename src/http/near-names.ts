import type { ValidationIssue } from "../errors.ts";
import { isObject } from "../user-metadata.ts";
import { fieldSchema, unwrap } from "./validation.ts";
import * as z from "./zod.ts";

/** Unknown names of a request that are compared, and characters of each. */
const [MAX_COMPARED_NAMES, MAX_COMPARED_CHARACTERS] = [50, 40];

/** Names that other APIs have for ours. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  asset_ids: ["video_ids", "image_ids"],
  cursor: [
    "page",
    "page_token",
    "offset",
    "next_cursor",
    "after",
    "next",
    "starting_after",
    "skip",
  ],
  expires_at: ["expires", "expires_in", "expiry", "ttl"],
  filter: ["where", "metadata", "metadata_filter", "facet_filters"],
  handles_seconds: ["handles"],
  image_file: ["file"],
  index_name: ["name"],
  limit: ["page_size", "per_page", "size", "count", "top_k"],
  metadata: ["metadata_str", "tags"],
  metadata_str: ["metadata", "title"],
  min_probability: ["min_score", "threshold"],
  modes: ["type", "types", "asset_type", "asset_types"],
  query: ["q", "question"],
  scopes: ["permissions", "role", "roles"],
  state: ["status"],
  title: ["name"],
  top_k: [
    "limit",
    "k",
    "n",
    "size",
    "count",
    "page_size",
    "per_page",
    "hits_per_page",
    "max_results",
  ],
  top_p: ["min_score", "threshold", "score_threshold", "min_probability"],
  transcript: ["srt", "vtt", "subtitles", "captions", "transcript_file"],
  video_file: ["file"],
  webhook_events: ["events"],
  webhook_url: ["webhook", "url"],
};

/** Another part of a request, whose fields may be sent at the wrong place. */
export interface OtherPart {
  schema: z.ZodObject | undefined;
  /** Where they belong: `in the query string`. */
  place: string;
}

/**
 * Lists the fields that `schema` lacks, but that another part of the request has, or that are
 * nearly known ones: `filters`, `topk`. They are mistakes, which a request would otherwise ignore.
 * Other unknown fields are ignored.
 */
export function unknownFieldIssues(
  schema: z.ZodType,
  value: unknown,
  loc: (string | number)[] = ["body"],
  other?: OtherPart,
): ValidationIssue[] {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return [];
  const known = Object.keys(inner.shape);
  const names = Object.keys(value);
  const unknown = names.filter((name) => !known.includes(name)).slice(0, MAX_COMPARED_NAMES);
  const mistaken = unknown.flatMap((name): ValidationIssue[] => {
    if (other && fieldSchema(other.schema, name)) {
      const msg = `Send ${name} ${other.place}`;
      return [{ loc: [...loc, name], type: "value_error", msg }];
    }
    const issue = (hint: string): ValidationIssue[] => {
      const msg = `There is no field "${name}" here: ${hint}`;
      return [{ loc: [...loc, name], type: "extra_forbidden", msg }];
    };
    const holder = known.find((one) => Object.hasOwn(fieldsOf(inner.shape[one]), name));
    if (holder !== undefined) return issue(`it belongs in "${holder}"`);
    const [held] = Object.keys(isObject(value[name]) ? value[name] : {});
    if (held && known.includes(held)) return issue(`send "${held}" at this level, not in it`);
    const lower = name.replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase();
    const meant = known.find((one) => isNearly(name, one) || SYNONYMS[one]?.includes(lower));
    return meant === undefined ? [] : issue(`did you mean "${meant}"?`);
  });
  const inside = names.flatMap((name) => {
    const field = fieldSchema(inner, name);
    return field ? unknownFieldIssues(field, value[name], [...loc, name]) : [];
  });
  return [...mistaken, ...inside];
}

function fieldsOf(field: z.ZodType): object {
  const schema = unwrap(field);
  return schema instanceof z.ZodObject ? schema.shape : {};
}

/**
 * Whether two names differ in case, underscores or a plural, or in two letters. Short ones may
 * differ in one letter that one of them has more: `name` isn't `none`.
 */
export function isNearly(name: string, known: string): boolean {
  if (name.length > MAX_COMPARED_CHARACTERS) return false;
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z\d]|s$/g, "");
  const [a, b] = [plain(name), plain(known)];
  const isShort = Math.min(a.length, b.length) < 5;
  if (isShort) return a === b || (a.length !== b.length && editDistance(a, b) === 1);
  return editDistance(a, b) <= 2;
}

/** Returns how many letters to insert, delete or replace (Levenshtein, 1966). */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = previous[j]! + Number(a[i] !== b[j]);
      row.push(Math.min(replaced, previous[j + 1]! + 1, row[j]! + 1));
    }
    previous = row;
  }
  return previous.at(-1)!;
}
