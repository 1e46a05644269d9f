import type { ImportRequest } from "./platform.ts";
import type { Settings } from "./settings.ts";

/** A profile on its home server. */
export interface FediverseProfile {
  origin: string;
  name: string;
}

const HANDLE = /^@?([\w.-]{1,64})@((?:[\w-]+\.)+[\w-]+(?::\d+)?)$/;
const NAME = String.raw`[\w.\-]{1,64}`;
const PROFILE_PATH = new RegExp(
  `^/(?:@|users/|web/@|web/accounts/@)(${NAME})(?:@([^/]+))?(?:/media)?/?$`,
);
const BARE_PROFILE_PATH = new RegExp(`^/(${NAME})/?$`);
/** Sites outside the fediverse whose profile URLs have the same form. */
const OTHER_SITES = [
  "flickr.com",
  "instagram.com",
  "youtube.com",
  "threads.net",
  "threads.com",
  "tiktok.com",
  "medium.com",
  "facebook.com",
  "x.com",
  "twitter.com",
];

/**
 * Parses `@name@host`, `name@host`, or a URL whose path only fediverse servers use: `/@name`,
 * `/users/name`. Returns null for any other request.
 */
export function parseProfile(request: ImportRequest, env: Settings): FediverseProfile | null {
  if (request.kind !== "profile") return null;
  if (request.url !== undefined) return parseProfileUrl(request.url, PROFILE_PATH);
  const [, name, host] = HANDLE.exec(request.username ?? "") ?? [];
  return name && host ? { origin: originOf(host, env), name } : null;
}

/** Parses `https://host/name`, the form of Pixelfed's profile URLs. */
export function parseBareProfile(request: ImportRequest): FediverseProfile | null {
  if (request.kind !== "profile" || request.url === undefined) return null;
  return parseProfileUrl(request.url, BARE_PROFILE_PATH);
}

function parseProfileUrl(text: string, pattern: RegExp): FediverseProfile | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || isOtherSite(url)) return null;
  const [, name, home] = pattern.exec(url.pathname) ?? [];
  if (!name) return null;
  return { origin: home ? `${url.protocol}//${home}` : url.origin, name };
}

function isOtherSite({ hostname }: URL): boolean {
  return OTHER_SITES.some((site) => `.${hostname}`.endsWith(`.${site}`));
}

/** Uses http for the hosts in `FETCH_ALLOW`: local servers without certificates. */
function originOf(host: string, { FETCH_ALLOW }: Settings): string {
  const isLocal = FETCH_ALLOW.split(",").includes(host);
  return `${isLocal ? "http" : "https"}://${host.toLowerCase()}`;
}
