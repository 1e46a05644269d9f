import { LIMITS } from "../config.ts";
import { AppError, invalid, type ValidationIssue } from "../errors.ts";
import { requirePublicUrl } from "../fetching/public-url.ts";
import * as z from "./zod.ts";

export const webhookUrl = (description: string, file: string) =>
  z
    .url({ protocol: /^https?$/ })
    .max(LIMITS.urlCharacters)
    .describe(`${description} Keys without the scope \`write\` see only its origin.`)
    .openapi({ example: `https://hooks.your-site.dev/${file}` });

/**
 * Returns an issue unless webhooks may be sent to a URL: https to a public address, or any of the
 * hosts in `FETCH_ALLOW`.
 */
export function webhookUrlIssues(
  { FETCH_ALLOW: allowed }: Pick<Env, "FETCH_ALLOW">,
  url: unknown,
  loc: string[],
): ValidationIssue[] {
  if (typeof url !== "string" || !URL.canParse(url)) return []; // the schema has an issue then
  try {
    const { protocol, host } = requirePublicUrl(url, allowed);
    if (protocol === "https:" || allowed.split(",").includes(host)) return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return invalid(loc, "value_error", error.message).issues;
  }
  return invalid(loc, "url_parsing", "Give an https URL").issues;
}

/** Shows only the origin of a webhook's URL to callers that can't set it: it may have a token. */
export function publicWebhookUrl(url: string, scopes: readonly string[]): string {
  return scopes.includes("write") ? url : new URL("/", url).href;
}
