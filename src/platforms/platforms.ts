import { AppError } from "../errors.ts";
import { flickr } from "./flickr.ts";
import { instagram } from "./instagram.ts";
import { mastodon, pixelfed } from "./mastodon.ts";
import { peertube } from "./peertube.ts";
import type { Platform, Wanted } from "./platform.ts";
import { requireSetting, type Settings } from "./settings.ts";
import { web } from "./web.ts";
import { youtube } from "./youtube.ts";

const VIDEO_PLATFORMS = [peertube, youtube, web] as const;
const PHOTO_PLATFORMS = [flickr, mastodon, pixelfed, instagram] as const;

/** The first that recognises what is wanted is taken. */
const PLATFORMS: readonly Platform[] = [...VIDEO_PLATFORMS, ...PHOTO_PLATFORMS];

export const VIDEONET = VIDEO_PLATFORMS.map(({ name }) => name);
export const PHOTONET = PHOTO_PLATFORMS.map(({ name }) => name);

/**
 * Who has what is wanted: `named`, or the first that recognises it. Throws `unsupported_platform`, saying what
 * is supported, and `platform_not_configured`, naming the setting that is missing.
 */
export function platformFor(env: Settings, wanted: Wanted, named?: string): Platform {
  const able = PLATFORMS.filter(({ kinds }) => kinds.includes(wanted.kind));
  const found = able.find((one) => (named ? one.name === named : one.matches(wanted, env)));
  if (found) {
    for (const name of found.needs?.(wanted.kind) ?? []) requireSetting(env, name);
    return found;
  }
  const names = able.map(({ name }) => name).join(", ");
  throw new AppError(
    "unsupported_platform",
    `No platform that we know has such a ${wanted.kind}. ${HINTS[wanted.kind]} We know ${names}.`,
  );
}

const HINTS = {
  url: "Give the URL of a video, or of the page that shows it.",
  playlist:
    "Give the URL of a playlist, channel or account; on YouTube a channel's @handle, not its /c/ name.",
  search: "Say which platform is to be searched.",
  profile: "Give a profile's URL, or name@host.",
} as const;

/** Throws `unsupported_platform`. */
export function platformByName(name: string): Platform {
  const found = PLATFORMS.find((one) => one.name === name);
  if (found) return found;
  throw new AppError("unsupported_platform", `There is no platform ${name} any longer.`);
}
