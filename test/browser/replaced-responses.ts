import type { Page } from "playwright-core";
import { WATCHDOG_MS } from "../support/watchdog.ts";

const LONG = "https://video.example/" + "very-long-path-without-a-space".repeat(8);

interface AssetPage {
  assets: { state: string; progress: number; thumbnail_url: string | null }[];
}

/** Shows all assets of an index as unfinished, which they are too briefly to be checked. */
export async function unfinishedAssets(page: Page, index: string): Promise<void> {
  const unfinished = ["queued", "fetching", "transcribing", "describing", "embedding"];
  await page.route(new RegExp(`/index/${index}/(events|video|image)`), (route) => route.abort());
  await page.route(new RegExp(`/index/${index}\\?`), async (route) => {
    const response = await route.fetch({ timeout: WATCHDOG_MS });
    const body = (await response.json()) as AssetPage;
    for (const [i, asset] of body.assets.entries()) {
      asset.state = unfinished[i % unfinished.length]!;
      asset.progress = i / body.assets.length;
    }
    await route.fulfill({ response, json: body });
  });
}

/**
 * Shows import sources in every state: an import from a real platform needs the internet. Lists
 * arrive after `released`.
 */
export async function awkwardSources(
  page: Page,
  index: string,
  released?: Promise<void>,
): Promise<void> {
  const source = {
    title: null,
    kind: "playlist",
    query: null,
    request: { url: LONG },
    limit: 50,
    metadata: {},
    url: LONG,
    platform: "peertube",
    items: 1200,
    follow: true,
    error: null,
  };
  const sources = [
    { ...source, source_id: "src_1", state: "succeeded" },
    { ...source, source_id: "src_2", state: "succeeded", title: "رحلة ".repeat(40) },
    {
      ...source,
      source_id: "src_3",
      state: "failed",
      title: "<b>T</b>".repeat(30),
      error: { code: "upstream_error", message: `The server of ${LONG} answered with 503.` },
    },
    {
      ...source,
      source_id: "src_4",
      kind: "search",
      state: "succeeded",
      query: "sea otters",
      request: { query: "sea otters" },
      limit: 10,
      follow: false,
    },
  ];
  const json = { sources, total: sources.length, next_cursor: null };
  await page.route(new RegExp(`/index/${index}/sources\\?`), async (route) => {
    await released;
    await route.fulfill({ json });
  });
}

/** Shows the quality of an index as if it had many judgments. */
export async function manyJudgments(page: Page, index: string): Promise<void> {
  const tenths = Array.from({ length: 10 }, (_, i) => {
    return { from: i / 10, judged: i === 5 ? 1160 : 0, right: i === 5 ? 673 : 0 };
  });
  const counts = { judged: 1177, right: 680, unfound: 5, outdated: 12 };
  const json = { calibration: "fitted", ...counts, tenths };
  await page.route(new RegExp(`/index/${index}/quality$`), (route) => route.fulfill({ json }));
}
