import { AppError } from "../errors.ts";

/** What the operator sets of platforms: docs/operate.md. Vars are empty where they are not set. */
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

/** Throws `platform_not_configured`, naming the setting. */
export function requireSetting(env: Settings, name: keyof Settings): string {
  const value = env[name];
  if (value) return value;
  throw new AppError(
    "platform_not_configured",
    `The operator of this service hasn't set ${name}, which this platform needs: docs/operate.md.`,
  );
}
