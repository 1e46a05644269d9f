import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { log } from "../log.ts";
import type { Listing, ListingPage } from "./platform.ts";

/** Characters of what a platform sends and D1 stores. Texts of an item are cut in `item.ts`. */
const MAX = {
  id: LIMITS.urlCharacters,
  title: 300,
  handle: 2 * LIMITS.urlCharacters,
  ref: 20_000,
  cursor: 4000,
};

/** Cuts the title of a listing. Throws `upstream_failed` if its parsed request is too long. */
export function toStorableListing(listing: Listing): Listing {
  const { platform, title, url, ref } = listing;
  if (JSON.stringify(ref).length > MAX.ref) throw tooLong(platform, "the request's listing");
  const isShort = url !== null && url.length <= LIMITS.urlCharacters;
  return {
    platform,
    title: title.slice(0, MAX.title).toWellFormed(),
    url: isShort ? url : null,
    ref,
  };
}

/**
 * Leaves out items whose id, URL or handle is too long, which no cut would keep valid, and
 * validators. Throws `upstream_failed` if the cursor of the next page is too long.
 */
export function toStorablePage(platform: string, page: ListingPage): ListingPage {
  const { items, next, validators } = page;
  if (JSON.stringify(next).length > MAX.cursor) throw tooLong(platform, "the next page");
  const storable = items.filter(
    ({ platformId, pageUrl, handle }) =>
      platformId.length <= MAX.id &&
      pageUrl.length <= LIMITS.urlCharacters &&
      JSON.stringify(handle).length <= MAX.handle,
  );
  const count = items.length - storable.length;
  if (count > 0) log("warn", "platforms.broken_items", { platform, count });
  const areShort = JSON.stringify(validators).length <= MAX.cursor;
  return { ...page, items: storable, validators: areShort ? validators : null };
}

function tooLong(platform: string, what: string): AppError {
  return new AppError("upstream_failed", `${platform} names ${what} with too long a text.`);
}
