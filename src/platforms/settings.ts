import { AppError } from "../errors.ts";

/** The operator's settings for platforms (docs/settings.md). Unset vars are empty. */
export interface Settings {
  FETCH_ALLOW: string;
  PEERTUBE_URL: string;
  YOUTUBE_API_URL: string;
  COBALT_URL: string;
  FLICKR_API_URL: string;
  INSTAGRAM_API_URL: string;
  INSTAGRAM_USER_ID: string;
  YOUTUBE_API_KEY?: string;
  COBALT_KEY?: string;
  FLICKR_API_KEY?: string;
  INSTAGRAM_TOKEN?: string;
}

/** What a setting is needed for, by the first part of its name. */
const PURPOSES: Record<string, string> = {
  COBALT: "for videos of YouTube",
  FLICKR: "for Flickr",
  INSTAGRAM: "for Instagram",
  PEERTUBE: "for a search of PeerTube",
  YOUTUBE: "for YouTube",
};

/** Returns a setting. Throws `platform_not_configured`, with its name, if it isn't set. */
export function requireSetting(env: Settings, name: keyof Settings): string {
  const value = env[name];
  if (value) return value;
  const purpose = PURPOSES[name.split("_")[0]!] ?? "for this platform";
  throw new AppError(
    "platform_not_configured",
    `This deployment has no credential ${purpose}. ` +
      `Its operator can set ${name}: docs/platforms.md.`,
  );
}
