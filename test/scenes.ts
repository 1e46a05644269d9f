import { env } from "cloudflare:workers";
import { inject } from "vitest";
import type {
  Listing,
  ListingPage,
  Media,
  PlatformItem,
  Wanted,
} from "../src/platforms/platform.ts";
import { platformByName, platformFor } from "../src/platforms/platforms.ts";
import type { JsonObject } from "../src/types.ts";
import type { Asked, Scene, SceneItem } from "./setup/platforms/scene.ts";

/** Makes, or changes, what all platforms of the test server have under a name. */
export async function putScene(name: string, scene: Scene): Promise<void> {
  const url = `${inject("platformsOrigin")}/scenes/${name}`;
  const response = await fetch(url, { method: "PUT", body: JSON.stringify(scene) });
  await response.body?.cancel();
}

/** What was asked of a scene since it was put. */
export async function askedOf(name: string): Promise<Asked[]> {
  const response = await fetch(`${inject("platformsOrigin")}/scenes/${name}`);
  return response.json();
}

export function many(count: number, more: Partial<SceneItem> = {}): SceneItem[] {
  return Array.from({ length: count }, (_, i) => ({ id: `i${i}`, file: "clip.mp4", ...more }));
}

/** PeerTube's channel of that scene. */
export function channel(scene: string): Wanted {
  return { kind: "playlist", url: `${inject("platformsOrigin")}/c/${scene}` };
}

export async function resolved(wanted: Wanted, named?: string): Promise<Listing> {
  return platformFor(env, wanted, named).resolve(env, wanted);
}

export function listed(
  listing: Listing,
  at: JsonObject | null = null,
  validators: JsonObject | null = null,
): Promise<ListingPage> {
  return platformByName(listing.platform).list(env, listing, at, validators);
}

/** All items, page after page. */
export async function all(listing: Listing): Promise<PlatformItem[]> {
  const items: PlatformItem[] = [];
  let at: JsonObject | null = null;
  for (let pages = 0; pages < 10; pages++) {
    const page: ListingPage = await listed(listing, at);
    items.push(...page.items);
    at = page.next;
    if (!at) return items;
  }
  throw new Error("The list does not end.");
}

export async function first(wanted: Wanted, named?: string): Promise<PlatformItem> {
  const { items } = await listed(await resolved(wanted, named));
  return items[0]!;
}

export function mediaOf(platform: string, item: PlatformItem): Promise<Media> {
  return platformByName(platform).media(env, item);
}

/** What work failed of; null where it didn't. */
export async function failure(
  work: Promise<unknown>,
): Promise<{ code: string; retryAfter?: number; message: string } | null> {
  return work.then(
    () => null,
    ({ code, retryAfter, message }) => ({ code, retryAfter, message }),
  );
}
