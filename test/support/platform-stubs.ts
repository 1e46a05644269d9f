import { env } from "cloudflare:workers";
import { inject } from "vitest";
import type {
  Listing,
  ListingPage,
  Media,
  PlatformItem,
  ImportRequest,
} from "../../src/platforms/platform.ts";
import { platformByName, platformFor, resolveRequest } from "../../src/platforms/registry.ts";
import type { JsonObject } from "../../src/types.ts";
import type { ReceivedRequest, Scene, SceneItem } from "../setup/platforms/scene.ts";

/** Creates or replaces the content of all platforms of the test server under a name. */
export async function stubPlatform(name: string, scene: Scene): Promise<void> {
  const url = `${inject("platformsOrigin")}/scenes/${name}`;
  const response = await fetch(url, { method: "PUT", body: JSON.stringify(scene) });
  await response.body?.cancel();
}

/** Lists the requests to a scene since it was stubbed. */
export async function requestsTo(name: string): Promise<ReceivedRequest[]> {
  const response = await fetch(`${inject("platformsOrigin")}/scenes/${name}`);
  return response.json();
}

/** Makes items `i0`, `i1` and so on, newest first. */
export function sceneItems(count: number, fields: Partial<SceneItem> = {}): SceneItem[] {
  return Array.from({ length: count }, (_, i) => ({ id: `i${i}`, file: "clip.mp4", ...fields }));
}

/** Requests the scene's channel on PeerTube. */
export function channelRequest(scene: string): ImportRequest {
  return { kind: "playlist", url: `${inject("platformsOrigin")}/c/${scene}` };
}

export async function resolveListing(
  request: ImportRequest,
  platformName?: string,
): Promise<Listing> {
  return resolveRequest(env, platformFor(env, request, platformName), request);
}

export function listPage(listing: Listing, cursor: JsonObject | null = null): Promise<ListingPage> {
  return platformByName(listing.platform).list(env, listing, cursor);
}

/** Lists the items of all pages. */
export async function listAllItems(listing: Listing): Promise<PlatformItem[]> {
  const items: PlatformItem[] = [];
  let cursor: JsonObject | null = null;
  for (let pages = 0; pages < 10; pages++) {
    const page: ListingPage = await listPage(listing, cursor);
    items.push(...page.items);
    cursor = page.next;
    if (!cursor) return items;
  }
  throw new Error("The list does not end.");
}

/** Returns the first item of a request's listing. */
export async function firstItem(
  request: ImportRequest,
  platformName?: string,
): Promise<PlatformItem> {
  const { items } = await listPage(await resolveListing(request, platformName));
  return items[0]!;
}

export function resolveMedia(platform: string, item: PlatformItem): Promise<Media> {
  return platformByName(platform).media(env, item);
}

/** Returns the error of a rejected promise; null if it is fulfilled. */
export async function errorOf(
  work: Promise<unknown>,
): Promise<{ code: string; retryAfter?: number; message: string } | null> {
  return work.then(
    () => null,
    ({ code, retryAfter, message }) => ({ code, retryAfter, message }),
  );
}
