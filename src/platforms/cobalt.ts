import { z } from "zod";
import { AppError } from "../errors.ts";
import { askJson } from "../fetching/ask.ts";
import { notAvailable } from "./item.ts";
import type { Settings } from "./settings.ts";

const answer = z.object({ status: z.enum(["tunnel", "redirect"]), url: z.string() });
const problem = z.object({ status: z.literal("error"), error: z.object({ code: z.string() }) });

/**
 * Where the file of a video's page is, by the resolver that the operator has set (version 10 or 11 of
 * github.com/imputnet/cobalt/blob/main/docs/api.md). Throws `media_not_available` with its reason,
 * `rate_limited`, `platform_not_configured` where it wants another key.
 */
export async function cobaltUrl(env: Settings, pageUrl: string): Promise<string> {
  const key = env.COBALT_KEY;
  const { url } = await askJson(env, {
    who: "The resolver at COBALT_URL",
    url: env.COBALT_URL,
    body: { url: pageUrl, videoQuality: "1080", youtubeVideoCodec: "h264" },
    ...(key && { secrets: { authorization: `Api-Key ${key}` } }),
    schema: answer,
    explain,
  });
  return url;
}

function explain(body: unknown): AppError | undefined {
  const { data } = problem.safeParse(body);
  if (!data) return undefined;
  const { code } = data.error;
  if (code.includes("api.auth.")) {
    const message = `The resolver at COBALT_URL doesn't take COBALT_KEY (${code}).`;
    return new AppError("platform_not_configured", message);
  }
  if (/rate_exceeded|fetch\.rate/.test(code)) {
    const message = "The resolver at COBALT_URL was asked too often.";
    return new AppError("rate_limited", message, { retryAfter: 60 });
  }
  if (/fetch\.(?:fail|critical)|unreachable|timed_out|generic/.test(code)) {
    const message = `The resolver at COBALT_URL failed (${code}).`;
    return new AppError("upstream_failed", message);
  }
  return notAvailable(`The resolver that the operator has set can't get it (${code}).`);
}
