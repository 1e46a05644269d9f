import type { Page, Request } from "playwright-core";
import { WATCHDOG_MS } from "../support/watchdog.ts";

const LONG = "W".repeat(120);

interface Hit {
  title: string;
  start_seconds: number | null;
  end_seconds: number | null;
  [field: string]: unknown;
}

interface ComposedBody {
  query?: string;
  sequence?: (string | { similar_to: string })[];
  within_seconds?: number;
  all?: string[];
  none?: string[];
  scope_seconds?: number;
  [field: string]: unknown;
}

/**
 * Answers searches with steps and conditions as the API does, with the moments that a search for
 * `searched` finds: what is shown of them doesn't depend on which moments a service finds.
 */
export async function composedSearches(page: Page, searched: string): Promise<void> {
  await page.route(/\/search$/, async (route) => {
    const body = route.request().postDataJSON() as ComposedBody;
    const { sequence, within_seconds: _, all = [], none = [], scope_seconds: __, ...rest } = body;
    if (!sequence && all.length + none.length === 0) return route.fallback();
    const query = searched;
    const response = await route.fetch({ timeout: WATCHDOG_MS, postData: { ...rest, query } });
    const found = (await response.json()) as { segments: Hit[] };
    const segments = found.segments.map((hit) =>
      sequence
        ? { ...hit, ...chain(hit, sequence) }
        : { ...hit, conditions: conditions(all, none) },
    );
    return route.fulfill({ response, json: { ...found, segments } });
  });
}

/** Offers another search for the words of the query, as for "a beach without people". */
export async function suggestedSearch(page: Page, suggested: object): Promise<void> {
  await page.route(/\/search$/, async (route) => {
    const { query } = route.request().postDataJSON() as ComposedBody;
    if (!query?.includes("without")) return route.fallback();
    const response = await route.fetch({ timeout: WATCHDOG_MS });
    const found = (await response.json()) as { query: object };
    const hint = "Words such as “without” don't exclude what is seen.";
    return route.fulfill({
      response,
      json: { ...found, query: { ...found.query, hint, suggested } },
    });
  });
}

/** Resolves to the body of the next search that is `expected`. */
export async function nextSearch(
  page: Page,
  expected: (body: ComposedBody) => boolean,
): Promise<ComposedBody> {
  const isExpected = (request: Request) =>
    new URL(request.url()).pathname.endsWith("/search") &&
    expected(request.postDataJSON() as ComposedBody);
  return (await page.waitForRequest(isExpected)).postDataJSON() as ComposedBody;
}

function chain(hit: Hit, sequence: NonNullable<ComposedBody["sequence"]>) {
  const steps = sequence.map((asked, i) => ({
    query: typeof asked === "string" ? asked : null,
    similar_to: typeof asked === "string" ? null : asked.similar_to,
    segment: { ...hit, start_seconds: (hit.start_seconds ?? 0) + 2 * i, score: undefined },
    score: 0.9 - i / 10,
    evidence: [
      { kind: "visual", score: 0.8 },
      { kind: "speech", score: 0.5, text: `<mark>said</mark> ${LONG}` },
    ],
  }));
  const start = hit.start_seconds ?? 0;
  return { steps, start_seconds: start, end_seconds: (hit.end_seconds ?? 0) + 2 * sequence.length };
}

function conditions(all: string[], none: string[]) {
  const record = (kind: string) => (query: string) => ({
    kind,
    query,
    similar_to: null,
    score: kind === "all" ? 0.93 : 0.88,
    evidence: [
      { kind: "visual", score: 0.7 },
      { kind: "caption", score: 0.6, text: `<mark>dogs</mark> &amp; ${LONG}` },
    ],
  });
  return [...all.map(record("all")), ...none.map(record("none"))];
}

/** Answers searches over several indices with those of one, and says that another is missing. */
export async function searchesAcross(page: Page, index: string): Promise<void> {
  const missing = {
    index_name: LONG.slice(0, 64),
    reason: "The index did not answer within 10 s.",
  };
  await page.route(
    ({ pathname }) => pathname === "/search",
    async (route) => {
      const { index_names: _, ...body } = route.request().postDataJSON() as ComposedBody;
      const url = new URL(`/index/${index}/search`, route.request().url()).href;
      const response = await route.fetch({ timeout: WATCHDOG_MS, url, postData: body });
      const json = { ...((await response.json()) as object), partial: [missing] };
      return route.fulfill({ response, json });
    },
  );
}

/** Answers requests for facets with `counts`, a number for each value, where a facet has some. */
export async function facetCounts(
  page: Page,
  counts: Record<string, Record<string, number>>,
): Promise<void> {
  await page.route(/\/search$/, async (route) => {
    const { facets, ...body } = route.request().postDataJSON() as ComposedBody;
    if (!Array.isArray(facets)) return route.fallback();
    const response = await route.fetch({ timeout: WATCHDOG_MS, postData: body });
    const found = (await response.json()) as object;
    const entries = (facets as string[]).map((facet) => {
      const values = Object.entries(counts[facet] ?? {});
      return [facet, values.map(([key, count]) => ({ key: toKey(key), count }))];
    });
    return route.fulfill({ response, json: { ...found, facets: Object.fromEntries(entries) } });
  });
}

function toKey(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text;
}
