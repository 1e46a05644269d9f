import type { Wanted } from "./platform.ts";
import type { Settings } from "./settings.ts";

/** A profile on the server where it is at home. */
export interface FediverseProfile {
  origin: string;
  name: string;
}

const HANDLE = /^@?([\w.-]{1,64})@((?:[\w-]+\.)+[\w-]+(?::\d+)?)$/;
const NAME = String.raw`[\w.\-]{1,64}`;
const AT = new RegExp(`^/(?:@|users/|web/@|web/accounts/@)(${NAME})(?:@([^/]+))?(?:/media)?/?$`);
const BARE = new RegExp(`^/(${NAME})/?$`);
/** Whose profiles look alike, and that are no part of it. */
const OTHERS =
  /(?:^|\.)(?:flickr\.com|instagram\.com|youtube\.com|threads\.net|threads\.com|tiktok\.com|medium\.com|facebook\.com|x\.com|twitter\.com)$/;

/** `@name@host`, `name@host`, or the URL of a profile that only this network has: `/@name`, `/users/name`. */
export function fediverseProfile(wanted: Wanted, env: Settings): FediverseProfile | null {
  if (wanted.kind !== "profile") return null;
  if (wanted.url !== undefined) return profileAt(wanted.url, AT);
  const [, name, host] = HANDLE.exec(wanted.username ?? "") ?? [];
  return name && host ? { origin: originOf(host, env), name } : null;
}

/** `https://host/name`, as Pixelfed has it. */
export function bareProfile(wanted: Wanted): FediverseProfile | null {
  if (wanted.kind !== "profile" || wanted.url === undefined) return null;
  return profileAt(wanted.url, BARE);
}

function profileAt(text: string, pattern: RegExp): FediverseProfile | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || OTHERS.test(url.hostname)) return null;
  const [, name, home] = pattern.exec(url.pathname) ?? [];
  if (!name) return null;
  return { origin: home ? `${url.protocol}//${home}` : url.origin, name };
}

/** Hosts that the operator exempts are nearby, where nobody has certificates. */
function originOf(host: string, { FETCH_ALLOW }: Settings): string {
  const isNearby = FETCH_ALLOW.split(",").includes(host);
  return `${isNearby ? "http" : "https"}://${host.toLowerCase()}`;
}
