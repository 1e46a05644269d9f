import { AppError, invalid } from "../errors.ts";
import { requirePublicUrl } from "../fetching/address.ts";

const LOC = ["body", "settings", "webhook_url"];

/**
 * Throws a `ValidationError` unless events may be sent to the URL: by https and to a public address, or to
 * one of the `allowed`.
 */
export function requireWebhookUrl(text: string, allowed: string): void {
  try {
    const { protocol, host } = requirePublicUrl(text, allowed);
    if (protocol === "https:" || allowed.split(",").includes(host)) return;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw invalid(LOC, "value_error", error.message);
  }
  throw invalid(LOC, "url_parsing", "Give an https URL");
}
