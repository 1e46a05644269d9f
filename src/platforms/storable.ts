import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import type { Listing, ListingPage } from "./platform.ts";

/** Characters of what a platform sends and D1 stores. Those of an item are bounded in `item.ts`. */
const MAX = {
  title: 300,
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
 * Leaves out validators that are too long. Throws `upstream_failed` if the cursor of the next page
 * is too long.
 */
export function toStorablePage(platform: string, page: ListingPage): ListingPage {
  const { next, validators } = page;
  if (JSON.stringify(next).length > MAX.cursor) throw tooLong(platform, "the next page");
  const areShort = JSON.stringify(validators).length <= MAX.cursor;
  return { ...page, validators: areShort ? validators : null };
}

function tooLong(platform: string, what: string): AppError {
  return new AppError("upstream_failed", `${platform} names ${what} with too long a text.`);
}
