import type { Json } from "./client.ts";

/** Reads all pages of a search. `search` sends one request, with the cursor of the page before. */
export async function readPages(
  search: (fields: { cursor: string | undefined }) => Promise<Json>,
): Promise<Json[]> {
  const pages: Json[] = [];
  let cursor: string | undefined;
  do {
    const page = await search({ cursor });
    pages.push(page);
    cursor = page["next_cursor"] ?? undefined;
  } while (cursor);
  return pages;
}
