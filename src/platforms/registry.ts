import { AppError } from "../errors.ts";
import { instagram } from "./instagram.ts";
import { mastodon, pixelfed } from "./mastodon.ts";
import { peertube } from "./peertube.ts";
import {
  type ImportRequest,
  type Listing,
  type Platform,
  requireSetting,
  type Settings,
} from "./platform.ts";
import { web } from "./web.ts";
import { youtube } from "./youtube.ts";

const VIDEO_PLATFORMS = [peertube, youtube, web] as const;
const PHOTO_PLATFORMS = [mastodon, pixelfed, instagram] as const;

/** Platforms in order of precedence: the first that matches a request handles it. */
const PLATFORMS: readonly Platform[] = [...VIDEO_PLATFORMS, ...PHOTO_PLATFORMS];

export const VIDEONET = VIDEO_PLATFORMS.map(({ name }) => name);
export const PHOTONET = PHOTO_PLATFORMS.map(({ name }) => name);

/**
 * Returns the platform for a request: the one named `platformName`, or the first that matches.
 * Throws `unsupported_platform`, with the supported ones, and `platform_not_configured`, with the
 * missing setting.
 */
export function platformFor(
  env: Settings,
  request: ImportRequest,
  platformName?: string,
): Platform {
  const candidates = PLATFORMS.filter(({ kinds }) => kinds.includes(request.kind));
  const platform = candidates.find(
    (candidate) =>
      (platformName === undefined || candidate.name === platformName) &&
      (candidate.parse(request, env) !== null || (platformName !== undefined && isOpen(request))),
  );
  if (platform) {
    requireSettings(env, platform, request);
    return platform;
  }
  const isKnown = platformName && candidates.some(({ name }) => name === platformName);
  const subject = isKnown ? `${platformName} has no such` : "No supported platform has such a";
  const supported = ` Supported: ${candidates.map(({ name }) => name).join(", ")}.`;
  throw new AppError(
    "unsupported_platform",
    `${subject} ${request.kind}. ${REQUEST_HINTS[request.kind]}${isKnown ? "" : supported}`,
  );
}

function requireSettings(env: Settings, platform: Platform, { kind }: ImportRequest): void {
  for (const name of platform.requiredSettings?.(kind) ?? []) requireSetting(env, name);
}

/** Returns what a request refers to. Throws `unsupported_platform`, and what `resolve` throws. */
export async function resolveRequest(
  env: Env,
  platform: Platform,
  request: ImportRequest,
): Promise<Listing> {
  requireSettings(env, platform, request);
  const ref = platform.parse(request, env);
  if (ref !== null) return platform.resolve(env, ref);
  const message = `That is no ${request.kind} of ${platform.name}.`;
  throw new AppError("unsupported_platform", message);
}

/** Whether only the platform itself can tell if it knows the target: words, or a user name. */
function isOpen(request: ImportRequest): boolean {
  return !("url" in request) && !("playlistId" in request);
}

const REQUEST_HINTS = {
  url: "Give the URL of a video, or of the page that shows it.",
  playlist:
    "Give the URL of a playlist, channel or account; " +
    "on YouTube a channel's @handle, not its /c/ name or its list of playlists.",
  search: "Say which platform is to be searched.",
  profile: "Give a profile's URL, or name@host.",
} as const;

export function platformByName(name: string): Platform {
  const platform = PLATFORMS.find((candidate) => candidate.name === name);
  if (platform) return platform;
  throw new AppError("unsupported_platform", `There is no platform ${name} any longer.`);
}
