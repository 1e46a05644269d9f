import { AppError } from "../errors.ts";

/** The operator's settings for platforms (docs/operate.md). Unset vars are empty. */
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

/** Returns a setting. Throws `platform_not_configured`, with its name, if it isn't set. */
export function requireSetting(env: Settings, name: keyof Settings): string {
  const value = env[name];
  if (value) return value;
  throw new AppError(
    "platform_not_configured",
    `The operator of this service hasn't set ${name}, which this platform needs: docs/operate.md.`,
  );
}
