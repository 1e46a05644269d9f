import { z } from "@hono/zod-openapi";
import { IMPORTS } from "../config.ts";
import { AppError, invalid, type ValidationIssue } from "../errors.ts";
import { requirePublicUrl } from "../fetching/public-url.ts";
import type { Context } from "../http/context.ts";
import type { SentInput } from "../http/endpoint.ts";
import { userMetadata } from "../http/json-object.ts";
import { jsonText, queryBool, queryInt } from "../http/query-params.ts";
import { bodyInt } from "../http/validation.ts";
import type { ImportRequest } from "../platforms/platform.ts";
import { PHOTONET, platformFor, VIDEONET } from "../platforms/registry.ts";
import type { JsonObject } from "../types.ts";

/** Schema of a text that names what to import. */
const target = (description: string, maxLength = 500) =>
  z.string().min(1).max(maxLength).optional().describe(description);
const urlOf = (what: string) => target(`URL of the ${what} on the platform.`, 2000);

/** Fields that name what to import, in the query string or in the body. */
export const TARGET_FIELDS = {
  video: { url: urlOf("video") },
  playlist: {
    url: urlOf("playlist or channel"),
    playlist_id: target("Id of the playlist, instead of its URL."),
  },
  search: { query: target("What to search the platform for.") },
  profile: { username: target("Name of the profile."), url: urlOf("profile") },
};

/** Descriptions of the options, which are in the query string or in the body. */
const OPTIONS = {
  platform:
    "Platform to use. Default: the one that knows the URL, or the first that is configured.",
  metadata: "Metadata of each imported asset.",
  follow: "Whether each later traversal imports what is new.",
  limit: "Maximum number of items to import.",
};

/** Options of an import in the query string. `maxItems` is the number of items it may add. */
export function queryOptions(platforms: readonly string[], maxItems: number) {
  return {
    platform: z.enum(platforms).optional().describe(OPTIONS.platform),
    metadata: jsonText(userMetadata).describe(`${OPTIONS.metadata} A JSON object as text.`),
    follow: queryBool(false).describe(OPTIONS.follow),
    limit: queryInt(1, maxItems, Math.min(IMPORTS.defaultLimit, maxItems)).describe(OPTIONS.limit),
  };
}

/** Options of an import in a JSON body. They override those in the query string. */
export function bodyOptions(platforms: readonly string[], maxItems: number) {
  return {
    platform: z.enum(platforms).optional().describe(OPTIONS.platform),
    metadata: userMetadata.optional().describe(OPTIONS.metadata),
    follow: z.boolean().optional().describe(`${OPTIONS.follow} Default: false.`),
    limit: bodyInt()
      .min(1)
      .max(maxItems)
      .optional()
      .describe(`${OPTIONS.limit} Default: ${Math.min(IMPORTS.defaultLimit, maxItems)}.`),
  };
}

interface Options {
  platform?: string | undefined;
  metadata?: JsonObject | undefined;
  follow?: boolean | undefined;
  limit?: number | undefined;
}

/** Input of an import whose target is given by one of the fields `Name`. */
export interface ImportInput<Name extends string> {
  params: { index_name: string };
  query: { [name in Name]?: string | undefined } & Options & { follow: boolean; limit: number };
  body: { [name in Name]?: string | undefined } & Options;
}

/** A field that names what to import, its value, and the part of the request it is in. */
interface ImportTarget<Name extends string> {
  part: "body" | "query";
  field: Name;
  value: string;
}

/** How an endpoint reads its target: the fields for it, and the request that they make. */
export interface TargetReader<Name extends string> {
  platforms: readonly string[];
  fields: readonly Name[];
  toRequest: (target: ImportTarget<Name>) => ImportRequest;
}

export const VIDEO: TargetReader<"url"> = {
  platforms: VIDEONET,
  fields: ["url"],
  toRequest: ({ value }) => ({ kind: "url", url: value }),
};
export const PLAYLIST: TargetReader<"url" | "playlist_id"> = {
  platforms: VIDEONET,
  fields: ["url", "playlist_id"],
  toRequest: ({ field, value }) =>
    field === "url" ? { kind: "playlist", url: value } : { kind: "playlist", playlistId: value },
};
export const VIDEO_SEARCH: TargetReader<"query"> = {
  platforms: VIDEONET,
  fields: ["query"],
  toRequest: ({ value }) => ({ kind: "search", query: value }),
};
export const PROFILE: TargetReader<"username" | "url"> = {
  platforms: PHOTONET,
  fields: ["username", "url"],
  toRequest: ({ field, value }) =>
    field === "url" ? { kind: "profile", url: value } : { kind: "profile", username: value },
};

export function listTargets<Name extends string>(
  { query, body }: SentInput,
  fields: readonly Name[],
): ImportTarget<Name>[] {
  return fields.flatMap((field) => {
    const part = (body[field] ?? null) === null ? "query" : "body";
    const value = part === "body" ? body[field] : query[field];
    return typeof value === "string" && value !== "" ? [{ part, field, value }] : [];
  });
}

/**
 * Makes the rules of an endpoint: exactly one target, a URL that may be fetched, and a platform
 * that knows it.
 */
export function targetRules<Name extends string>({
  platforms,
  fields,
  toRequest,
}: TargetReader<Name>) {
  return (c: Context, sent: SentInput): ValidationIssue[] => {
    const [named, second] = listTargets(sent, fields);
    if (!named) {
      return invalid(["body", fields[0]!], "missing", `Give ${fields.join(" or ")}`).issues;
    }
    if (second) {
      const message = `Give one of ${fields.join(" and ")}, not both`;
      return invalid([second.part, second.field], "value_error", message).issues;
    }
    const platform = sent.body["platform"] ?? sent.query["platform"];
    try {
      if (named.field === "url") requirePublicUrl(named.value, c.env.FETCH_ALLOW);
      const name = platforms.find((each) => each === platform);
      const isKnown = platform === undefined || name !== undefined; // else the schema has an issue
      if (isKnown) platformFor(c.env, toRequest(named), name);
      return [];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "platform_not_configured") return []; // the handler throws it
      return invalid([named.part, named.field], "value_error", error.message).issues;
    }
  };
}
