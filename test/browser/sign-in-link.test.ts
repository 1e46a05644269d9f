import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { signInLink } from "../../tools/stack/api-key.ts";
import { createIndex, newAccountKey, openConsole, openPage, SERVICE_URL } from "./console-page.ts";

it("a link with a key signs in and opens its index, and the address loses the key at once", async () => {
  const key = await newAccountKey();
  await createIndex(key, "linked");
  const { page } = await openPage();
  const addresses = recordAddresses(page);
  await page.goto(signInLink(SERVICE_URL, key, "linked"));
  await page.getByRole("heading", { name: "linked" }).waitFor();
  expect(page.url()).toBe(`${SERVICE_URL}/#/linked`);
  expect(addresses.filter((url) => url.includes(key))).toEqual([]);
  await page.reload();
  await page.getByRole("heading", { name: "linked" }).waitFor();
});

it("a link with a key signs in on an open page, too, and replaces its account", async () => {
  const { page } = await openConsole(await newAccountKey());
  await page.getByText("No index yet").waitFor();
  const key = await newAccountKey();
  await createIndex(key, "another");
  await page.evaluate(`location.href = ${JSON.stringify(signInLink("", key))}`);
  await page.getByRole("link", { name: "another" }).waitFor();
  expect(await page.evaluate<number>("history.length")).toBeGreaterThan(0);
  expect(page.url()).not.toContain(key);
});

it("a link with a wrong key leads to the form, which says why", async () => {
  const { page } = await openPage();
  await page.goto(signInLink(SERVICE_URL, "sl_wrong"));
  await page.getByRole("alert").getByText("API key").waitFor();
  expect(page.url()).not.toContain("sl_wrong");
});

it("on a service that isn't local, a link only fills in the form", async () => {
  const { page } = await openPage();
  const key = await newAccountKey();
  const origin = "http://sightline.example";
  await page.route(`${origin}/**`, async (route) => {
    const url = route.request().url().replace(origin, SERVICE_URL);
    return route.fulfill({ response: await route.fetch({ url }) });
  });
  await page.goto(signInLink(origin, key));
  await page.getByLabel("API key").waitFor();
  expect(await page.getByLabel("API key").inputValue()).toBe(key);
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  expect(page.url()).not.toContain(key);
});

/** Records the URLs of all requests. */
function recordAddresses(page: Page): string[] {
  const urls: string[] = [];
  page.on("request", (request) => urls.push(request.url()));
  return urls;
}
