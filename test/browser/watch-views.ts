import type { Page } from "playwright-core";
import { AWKWARD_INDEX } from "./awkward-files.ts";
import { type ConsolePage, INDEX_KEY, openConsole, SERVICE_URL } from "./console-page.ts";

const HASH = `#/${AWKWARD_INDEX}/watches`;
const WATCHES = `/index/${AWKWARD_INDEX}/watches`;
const AWKWARD_WATCH = {
  name: "W".repeat(200),
  query: "x".repeat(400),
  modes: ["video", "speech"],
  filter: { ["a".repeat(100)]: { $gte: "b".repeat(100) } },
  webhook_url: `https://hooks.example.com/${"w".repeat(200)}`,
  paused: true,
};

/** Pages of watches. */
export const WATCH_VIEWS: Record<string, () => Promise<ConsolePage>> = {
  async "the watches of an index"() {
    await createWatch();
    const view = await openConsole(INDEX_KEY, HASH);
    await view.page.locator("li.record").first().waitFor();
    return view;
  },
  async "the editor of a watch"() {
    await createWatch();
    const view = await openConsole(INDEX_KEY, HASH);
    await view.page.getByRole("button", { name: "Edit WWW" }).first().click();
    await view.page.getByRole("dialog").waitFor();
    return view;
  },
  async "the matches of a watch"() {
    const id = await createWatch();
    const view = await openConsole();
    await replaceMatches(view.page);
    await view.page.goto(`${SERVICE_URL}/${HASH}/${id}`);
    await view.page.locator(".card.moment").first().waitFor();
    await view.page.getByText("Webhook").click();
    return view;
  },
  async "the form for a watch, with a preview"() {
    const view = await openConsole(INDEX_KEY, `${HASH}/new?q=boat&least=0.5&modes=image`);
    await view.page.getByRole("button", { name: "Preview" }).click();
    await view.page.locator(".card.moment").first().waitFor();
    return view;
  },
  async "the form for a watch whose image was lost by a reload"() {
    const example = `image=1&name=${"W".repeat(200)}.jpg`;
    const view = await openConsole(INDEX_KEY, `${HASH}/new?${example}`);
    await view.page.getByText("only known until the page is reloaded").waitFor();
    return view;
  },
};

/** Stores a watch that breaks layouts. Resolves to its id. */
async function createWatch(): Promise<string> {
  const { watch_id: id } = await post<{ watch_id: string }>(WATCHES, AWKWARD_WATCH);
  return id;
}

/** Lists hits of a search as matches: real ones come only with new assets. */
async function replaceMatches(page: Page): Promise<void> {
  const path = `/index/${AWKWARD_INDEX}/search`;
  const { segments } = await post<{ segments: { score: number }[] }>(path, { query: "boat" });
  const matches = segments.map((segment) => {
    return { segment, score: segment.score, matched_at: "2026-11-26T10:00:00Z" };
  });
  const json = { matches, total: matches.length, next_cursor: "next" };
  await page.route(/\/matches\?/, (route) => route.fulfill({ json }));
}

async function post<T>(path: string, body: object): Promise<T> {
  const headers = { "X-API-Key": INDEX_KEY, "Content-Type": "application/json" };
  const options = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(SERVICE_URL + path, options);
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as T;
}
