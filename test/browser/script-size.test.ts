import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { openSample } from "./console-page.ts";

const MAX_BYTES = 60_000;

it("the scripts that an index loads without any interaction have less than 60 kB in gzip", async () => {
  const { page } = await openSample();
  const scripts = new Set<string>();
  page.on(
    "request",
    (request) => request.resourceType() === "script" && scripts.add(request.url()),
  );
  await page.reload();
  await page
    .getByRole("list", { name: "Videos and images" })
    .getByRole("heading")
    .first()
    .waitFor();
  await page.waitForLoadState("networkidle");
  const sizes = await Promise.all(
    [...scripts].map(async (url) => gzipSync(await (await fetch(url)).bytes()).length),
  );
  expect(sizes.length).toBeGreaterThan(10);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_BYTES);
});
