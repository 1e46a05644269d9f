import type { Page } from "playwright-core";
import { launchBrowser } from "../../tools/browser.ts";
import { type Service, withService } from "../../tools/service.ts";
import { quantile, round, type Suite } from "../../tools/suite.ts";
import { batchesOf, loadTextMaterial } from "../search/corpus-vectors.ts";
import { makeQueries } from "../search/corpus.ts";
import { checkVectors, loadBatch, LOADING_WORKER } from "../search/load-batch.ts";

const INDEX = "corpus";
const QUERIES = 60;
const WARM_UP = 5;

export const suite: Suite = {
  summary:
    "time from Enter in the console to the first results on screen, in Chromium, among --sizes " +
    "segments of <DIR>/photos",
  run: (options) =>
    withService(
      options,
      async (service) => {
        const material = await loadTextMaterial(options);
        await service.sightline.indices.create({ index_name: INDEX });
        const figures: Figures[] = [];
        let loaded = 0;
        for (const [roundNumber, size] of options.sizes.entries()) {
          for (const batch of batchesOf(material, loaded, size)) {
            options.signal.throwIfAborted();
            await loadBatch(service, INDEX, batch);
          }
          loaded = size;
          const queries = makeQueries(material.photos, size).map(({ text }) => text);
          await checkVectors(service, INDEX, queries[0]!);
          const own = queries.filter((_, at) => at % options.sizes.length === roundNumber);
          const times = await measureConsole(service, own.slice(0, QUERIES + WARM_UP));
          const at = (share: number) => Math.round(quantile(times.slice(WARM_UP), share));
          figures.push({ segments: size, searches: QUERIES, p50: at(0.5), p95: at(0.95) });
          options.log(`${size} segments: ${JSON.stringify(figures.at(-1))}`);
        }
        return { table: figures.map((row) => ({ ...row })), json: { figures } };
      },
      { entry: LOADING_WORKER },
    ),
};

/** Times in ms. */
interface Figures {
  segments: number;
  searches: number;
  p50: number;
  p95: number;
}

/** Types queries into the console, one after the other, and returns how long each took, in ms. */
async function measureConsole({ url, key }: Service, queries: string[]): Promise<number[]> {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(`${url}/#/${INDEX}`);
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Sign in" }).click();
    const times: number[] = [];
    for (const query of queries) times.push(round(await timeSearch(page, query), 1));
    return times;
  } finally {
    await browser.close();
  }
}

/** Returns the time in ms from Enter to the frame that shows the first result of the query. */
async function timeSearch(page: Page, query: string): Promise<number> {
  await page.locator("#text").fill(query);
  await page.evaluate(AWAIT_RESULT);
  await page.keyboard.press("Enter");
  return page.evaluate<number>("shownAfter");
}

/**
 * Runs in the page. The results of a new search come with a new heading, whose text names what was
 * searched: the query, or its correction.
 */
const AWAIT_RESULT = `globalThis.shownAfter = new Promise((resolve, reject) => {
  let start = 0;
  const begin = ({ timeStamp }) => { start = timeStamp; };
  document.addEventListener("keydown", begin, { capture: true, once: true });
  const before = document.querySelector("h2.found");
  const isShown = () => {
    const heading = document.querySelector("h2.found");
    return heading && heading !== before && document.querySelector(".card.moment");
  };
  const observer = new MutationObserver(() => {
    if (start === 0 || !isShown()) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
  });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  setTimeout(() => reject(new Error("No result was shown within a minute.")), 60_000);
});
0`;
