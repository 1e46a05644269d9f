import { z } from "zod";
import { AppError } from "../errors.ts";
import { fetchJson } from "../fetching/fetch-json.ts";
import { mediaNotAvailable } from "./item.ts";
import type { Settings } from "./settings.ts";

const mediaResponse = z.object({ status: z.enum(["tunnel", "redirect"]), url: z.string() });
const errorResponse = z.object({
  status: z.literal("error"),
  error: z.object({ code: z.string() }),
});

/**
 * Requests the file URL of a video's page from the resolver at `COBALT_URL` (Cobalt 10 or 11,
 * github.com/imputnet/cobalt/blob/main/docs/api.md). Throws `media_not_available` with the
 * resolver's reason, `rate_limited`, `upstream_failed`, and `platform_not_configured` if the
 * resolver rejects the key.
 */
export async function resolveMediaUrl(env: Settings, pageUrl: string): Promise<string> {
  const key = env.COBALT_KEY;
  const { url } = await fetchJson(env, {
    serverName: "The resolver at COBALT_URL",
    url: env.COBALT_URL,
    body: { url: pageUrl, videoQuality: "1080", youtubeVideoCodec: "h264" },
    ...(key && { secrets: { authorization: `Api-Key ${key}` } }),
    schema: mediaResponse,
    explain,
  });
  return url;
}

function explain(body: unknown): AppError | undefined {
  const { data } = errorResponse.safeParse(body);
  if (!data) return undefined;
  const { code } = data.error;
  if (code.includes("api.auth.")) {
    const message = `The resolver at COBALT_URL doesn't take COBALT_KEY (${code}).`;
    return new AppError("platform_not_configured", message);
  }
  if (/rate_exceeded|fetch\.rate/.test(code)) {
    const message = "The resolver at COBALT_URL got too many requests.";
    return new AppError("rate_limited", message, { retryAfter: 60 });
  }
  if (/fetch\.(?:fail|critical)|unreachable|timed_out|generic/.test(code)) {
    const message = `The resolver at COBALT_URL failed (${code}).`;
    return new AppError("upstream_failed", message);
  }
  return mediaNotAvailable(`The resolver at COBALT_URL can't get it (${code}).`);
}
