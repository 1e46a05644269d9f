import type { ValidationIssue } from "../errors.ts";
import { isObject } from "../user-metadata.ts";
import { fieldSchema, unwrap } from "./validation.ts";
import * as z from "./zod.ts";

/** Unknown names of a request that are compared, and characters of each. */
const [MAX_COMPARED_NAMES, MAX_COMPARED_CHARACTERS] = [50, 40];

/** Names that other APIs have for ours. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  asset_ids: ["video_ids", "image_ids", "asset_id", "video_id", "image_id", "video"],
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
  group_by: ["by", "group"],
  handles_seconds: ["handles"],
  image_file: ["file"],
  index_name: ["name"],
  index_names: ["index", "index_name", "indices", "indexes"],
  limit: ["page_size", "per_page", "size", "count", "top_k"],
  metadata: ["metadata_str", "tags"],
  metadata_str: ["metadata"],
  min_probability: ["min_score", "threshold"],
  modes: ["type", "types", "asset_type", "asset_types"],
  query: ["q", "question"],
  scopes: ["permissions", "role", "roles"],
  state: ["status"],
  title: ["name"],
  top: ["limit", "top_k", "size", "count"],
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

/** Restrictions by a name that isn't a field anywhere, as a filter. */
const AS_FILTER: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["folder", "title", "tags"].map((one) => [one, `{"${one}": "…"}`])),
  created_at: '{"created_at": {"$gte": "2026-01-31"}}',
  date_from: '{"created_at": {"$gte": "2026-01-31"}}',
  since: '{"created_at": {"$gte": "2026-01-31"}}',
  date_to: '{"created_at": {"$lte": "2026-01-31"}}',
  until: '{"created_at": {"$lte": "2026-01-31"}}',
};
/** What restricts or orders the results of some operation. Ignored, it would return too much. */
const RESTRICTIONS: ReadonlySet<string> = new Set(
  `all asset_id fields filter group_by image_id index_names less_like modes more_like none order
  order_by q query scope_seconds search search_term sequence similar_to skipped sort sort_by state
  top_p type video video_id within_seconds start_time end_time`
    .split(/\s+/)
    .concat(Object.keys(AS_FILTER)),
);

/** Fields of operations that find or list something. */
const LISTING: ReadonlySet<string> = new Set(["query", "limit", "top_k", "group_by"]);

/** Another part of a request, whose fields may be sent at the wrong place. */
export interface OtherPart {
  schema: z.ZodObject | undefined;
  /** Where they belong: `in the query string`. */
  place: string;
}

/**
 * Lists the fields that `schema` lacks, but that another part of the request has, or that are
 * nearly known ones (`filters`, `topk`) or restrictions that only other operations have. They are
 * mistakes, which a request would otherwise ignore.
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
    const asFilter = known.includes("filter") && AS_FILTER[lower];
    if (asFilter) return issue(`use "filter", such as ${asFilter}`);
    const meant = known.find((one) => isNearly(name, one) || SYNONYMS[one]?.includes(lower));
    if (lower === "title" && known.includes("metadata_str")) {
      return issue("the title is the name of the file, and PATCH changes it");
    }
    const kind = /^(video|image)_file$/.exec(lower)?.[1];
    if (kind && known.some((one) => one.endsWith("_file"))) {
      return issue(
        `send ${kind === "image" ? "an image" : "a video"} to …/${kind} or …/search_${kind}`,
      );
    }
    if (meant !== undefined) return issue(`did you mean "${meant}"?`);
    const isRestricted = value[name] !== null && RESTRICTIONS.has(lower);
    if (!isRestricted || !known.some((one) => LISTING.has(one))) return [];
    if (lower.endsWith("_time"))
      return issue(`only /index/{index_name}/{video_id}/answer_vqa has it`);
    return issue(`this operation takes ${known.join(", ")}`);
  });
  const inside = names.flatMap((name) => {
    const field = fieldSchema(inner, name);
    return field ? unknownFieldIssues(field, value[name], [...loc, name]) : [];
  });
  return [...mistaken, ...inside];
}

/** What an update can't change, though records have it. */
const FIXED: ReadonlySet<string> = new Set(["index_name", "name", "folder", "filter", "query"]);

/** Returns the issues of an update that names what can't be changed. */
export function updateIssues({ shape }: z.ZodObject, sent: Record<string, unknown>) {
  const known = Object.keys(shape);
  const fixed = Object.keys(sent).filter((name) => FIXED.has(name) && !known.includes(name));
  const msg = (name: string) => `"${name}" stays as it is: only ${known.join(", ")} can be changed`;
  return fixed.map((name) => ({ loc: ["body", name], type: "extra_forbidden", msg: msg(name) }));
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
