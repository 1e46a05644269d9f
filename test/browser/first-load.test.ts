import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { openPage, openSample, SERVICE_URL } from "./console-page.ts";

const MAX_REQUESTS = 12;
const MAX_BYTES = 70_000;
/** Bytes of all scripts of an index, compressed. */
const MAX_SCRIPT_BYTES = 60_000;

it("the form for the key takes at most 12 requests and 70 kB, uncompressed", async () => {
  const { page } = await openPage();
  const responses = recordResponses(page);
  await page.goto(SERVICE_URL);
  await page.getByLabel("API key").waitFor();
  await page.waitForLoadState("networkidle");
  const sizes = await Promise.all(responses.map(async ({ url }) => (await readBody(url)).length));
  expect(sizes.length).toBeLessThanOrEqual(MAX_REQUESTS);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_BYTES);
});

it("the scripts that an index loads without any interaction have less than 60 kB in gzip", async () => {
  const { page } = await openSample();
  const responses = recordResponses(page);
  await page.reload();
  const list = page.getByRole("list", { name: "Videos and images" });
  await list.getByRole("heading").first().waitFor();
  await page.waitForLoadState("networkidle");
  const scripts = responses.filter(({ url }) => url.endsWith(".js"));
  const sizes = await Promise.all(
    scripts.map(async ({ url }) => gzipSync(await readBody(url)).length),
  );
  expect(sizes.length).toBeGreaterThan(2);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_SCRIPT_BYTES);
});

it("a bundle may be cached for ever, and has a map to its sources", async () => {
  const { page } = await openPage();
  const responses = recordResponses(page);
  await page.goto(SERVICE_URL);
  await page.getByLabel("API key").waitFor();
  const chunks = responses.filter(({ url }) => /\/built\/chunk-\w+\.js$/.test(url));
  const maps = await Promise.all(
    chunks.map(async ({ url, headers }) => {
      expect(headers["cache-control"]).toContain("immutable");
      return (await (await fetch(`${url}.map`)).json()) as { sources: string[] };
    }),
  );
  const sources = maps.flatMap((map) => map.sources);
  expect(sources.some((source) => source.endsWith("shared/element.js"))).toBe(true);
});

it("a missing module of the first page is told in a sentence", async () => {
  const { page } = await openPage();
  await page.route(/\/built\/chunk-/, (route) => route.fulfill({ status: 404, body: "" }));
  await page.goto(SERVICE_URL);
  await page.getByRole("alert").getByText("The service can't be reached").waitFor();
});

it("a missing module of a page or of a click is told in a sentence", async () => {
  const { page } = await openSample();
  await page.locator(".card.asset").first().waitFor();
  await page.route(/\/built\/.*\.js$/, (route) => route.fulfill({ status: 404, body: "" }));
  await page.getByRole("link", { name: "Settings" }).click();
  await page.locator("[data-part=page]").getByText("The service can't be reached").waitFor();
  await page.getByRole("link", { name: "Library" }).click();
  await page.keyboard.press("?");
  await page.locator(".load-error").getByText("The service can't be reached").waitFor();
});

async function readBody(url: string): Promise<Uint8Array> {
  return (await fetch(url)).bytes();
}

interface RecordedResponse {
  url: string;
  headers: Record<string, string>;
}

/** Records what a page loads, of the service's own files. */
function recordResponses(page: Page): RecordedResponse[] {
  const responses: RecordedResponse[] = [];
  page.on("response", (response) => {
    const url = response.url();
    responses.push({ url, headers: response.headers() });
  });
  return responses;
}
