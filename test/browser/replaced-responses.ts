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
    removed_upstream: 0,
  };
  const sources = [
    { ...source, source_id: "src_1", state: "succeeded", removed_upstream: 3 },
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

/** Shows figures of an index as if it had many judgments; of `speech` there are too few. */
export async function manyJudgments(page: Page, index: string): Promise<void> {
  const figures = {
    judgments: 1240,
    relevant: 702,
    is_enough: true,
    precision: [0.1, 0.3, 0.5, 0.7, 0.9].map((threshold) => ({
      threshold,
      judgments: threshold === 0.9 ? 0 : 300,
      precision: threshold === 0.9 ? null : threshold,
      low: threshold === 0.9 ? null : threshold - 0.06,
      high: threshold === 0.9 ? null : threshold + 0.05,
    })),
    calibration_error: { value: 0.07, low: 0.02, high: 0.11 },
    ndcg_at_10: { value: 0.861, queries: 1 },
    bins: [
      { judgments: 40, predicted: 0.06, observed: 0, low: 0, high: 0.09 },
      { judgments: 1160, predicted: 0.55, observed: 0.58, low: 0.55, high: 0.61 },
      { judgments: 40, predicted: 0.97, observed: 1, low: 0.93, high: 1 },
    ],
  };
  const nothing = { precision: null, calibration_error: null, ndcg_at_10: null, bins: null };
  const few = { ...figures, ...nothing, judgments: 1, relevant: 1, is_enough: false };
  const kinds = { visual: figures, caption: figures, speech: few, text: figures };
  const json = { calibration: "own", outdated: 12, all: figures, by_evidence: kinds };
  await page.route(new RegExp(`/index/${index}/quality$`), (route) => route.fulfill({ json }));
}
