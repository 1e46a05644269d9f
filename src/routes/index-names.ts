import { z } from "@hono/zod-openapi";
import { AppError, type ValidationIssue } from "../errors.ts";
import type { Context } from "../http/context.ts";
import { INDEX_GROUP } from "../parameters.ts";
import type { PartialIndex } from "../search/index-group.ts";
import { listIndicesByName, listNewestIndices } from "../store/d1/indices.ts";
import type { MediaIndexRow } from "../types.ts";

/** Names all indices of the account. */
const ALL_INDICES = "*";

export const INDEX_NAMES_DESCRIPTION =
  `Names of 1 to ${INDEX_GROUP.maxIndices} indices of the account. \`*\` stands for all: of more, ` +
  "those to which a video or image was added last.";

/** Schema of a name of an index, or of all. */
export const indexNameOrAll = z
  .string()
  .regex(
    /^(?:\*|[A-Za-z0-9][A-Za-z0-9._-]{0,63})$/,
    "an index name (1 to 64 letters, digits, dots, dashes, underscores), or * for all",
  );

/** Schema of the field `index_names`: a list of names, or `*`, which needs no list. */
export const indexNamesField = z
  .preprocess(
    (value) => (value === ALL_INDICES ? [value] : value),
    z.array(indexNameOrAll).min(1).max(INDEX_GROUP.maxIndices),
  )
  .describe(INDEX_NAMES_DESCRIPTION)
  .openapi({ example: ["holidays", "interviews"] });

export const partialField = z
  .array(
    z.object({
      index_name: z.string().describe("Name of the index.").openapi({ example: "holidays" }),
      reason: z
        .string()
        .describe("Why, and what to do.")
        .openapi({ example: "The index did not answer within 10 s; try again." }),
    }),
  )
  .describe("Indices whose segments are missing or incomplete. Empty if all of them answered.");

export function toPartialRecord({ name, reason }: PartialIndex) {
  return { index_name: name, reason };
}

/** The indices that a request names, and those of `*` that are too many. */
export interface NamedIndices {
  indices: MediaIndexRow[];
  others: PartialIndex[];
}

/**
 * Returns the caller's indices with these names, in the order of names. Throws `not_found` with the
 * first one that the account doesn't have, whether or not another account has it.
 */
export async function requireNamedIndices(
  c: Context,
  names: readonly string[],
): Promise<NamedIndices> {
  const { accountId } = c.get("caller");
  if (names.includes(ALL_INDICES)) {
    const newest = await listNewestIndices(c.env.DB, accountId, INDEX_GROUP.maxIndices);
    const others = newest.otherNames.map((name) => ({ name, reason: TOO_MANY }));
    return { indices: newest.indices, others };
  }
  const found = await listIndicesByName(c.env.DB, accountId, names);
  const byName = new Map(found.map((index) => [index.name, index]));
  const indices = [...new Set(names)].map((name) => {
    const index = byName.get(name);
    if (!index) throw new AppError("not_found", `There is no index named "${name}".`);
    return index;
  });
  return { indices, others: [] };
}

const TOO_MANY =
  `\`*\` covers the ${INDEX_GROUP.maxIndices} indices to which something was added last; ` +
  "name this one.";

/**
 * Returns issues of fields that only a request of one index has. Leaving them out silently would
 * search more than was asked for.
 */
export function singleIndexIssues(
  part: "query" | "body",
  sent: Record<string, unknown>,
): ValidationIssue[] {
  const isGiven = (value: unknown) =>
    value === true || ((Array.isArray(value) || typeof value === "string") && value.length > 0);
  return ["asset_ids", "queue_job"]
    .filter((name) => isGiven(sent[name]))
    .map((name) => ({
      loc: [part, name],
      type: "value_error",
      msg: "Value error, only a request of one index takes this: /index/{index_name}/…",
    }));
}
