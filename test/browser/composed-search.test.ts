import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { composedSearches, nextSearch, suggestedSearch } from "./composed-responses.ts";
import { openOptions, openSample } from "./console-page.ts";

it("steps are added by keyboard, and address, reload and back restore them", async () => {
  const { page } = await openSample("?q=glacier");
  await page.locator(".card.moment").first().waitFor();
  await composedSearches(page, "glacier");
  await openOptions(page);
  await page.getByRole("button", { name: "Add a step: then…" }).focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("Step 2", { exact: true }).waitFor();
  const sent = nextSearch(page, ({ sequence }) => sequence !== undefined);
  await page.keyboard.type("a clock"); // the new field has the focus
  await page.keyboard.press("Enter");
  expect(await sent).toMatchObject({ sequence: ["glacier", "a clock"], within_seconds: 60 });
  await heading(page, /sequences? for “glacier”, then “a clock”/).waitFor();

  const narrowed = nextSearch(page, (body) => body.within_seconds !== 60);
  await page.getByLabel("Most seconds between two steps").fill("20");
  await page.getByLabel("Most seconds between two steps").press("Enter");
  expect(await narrowed).toMatchObject({ within_seconds: 20 });
  await page.waitForURL(/then=a\+clock&within=20/);
  const steps = page.getByRole("list", { name: "Steps", exact: true }).first();
  await steps.getByText("a clock", { exact: true }).waitFor();
  await page.reload();
  await steps.getByText("a clock", { exact: true }).waitFor();
  expect(await page.getByLabel("Step 2", { exact: true }).inputValue()).toBe("a clock");
  expect(await page.getByRole("button", { name: /^Relevant/ }).count()).toBe(0);
  await page.goBack();
  await page.goBack();
  await heading(page, /moments? for “glacier”/).waitFor();
  expect(await page.getByLabel("Step 2", { exact: true }).count()).toBe(0);
});

it("a step of a result plays the video from there", async () => {
  const { page } = await openSample();
  await composedSearches(page, "carpenter");
  await visit(page, "?q=carpenter&then=a+clock");
  await page
    .getByRole("button", { name: /^Play step 2, a clock, at/ })
    .first()
    .click();
  const first = await playedFrom(page);
  await page
    .getByRole("button", { name: /^Play step 1, carpenter, at/ })
    .first()
    .click();
  await expect.poll(() => playedFrom(page)).toBeLessThan(first);
});

it("a search without words begins with the first step", async () => {
  const { page } = await openSample();
  await openOptions(page);
  await page.getByRole("button", { name: "Add a step: then…" }).click();
  const sent = nextSearch(page, ({ query }) => query !== undefined);
  await page.getByLabel("Step 2", { exact: true }).fill("glacier");
  await page.getByLabel("Step 2", { exact: true }).press("Enter");
  expect(await sent).toMatchObject({ query: "glacier" });
  expect(await page.locator("#text").inputValue()).toBe("glacier");
});

it("conditions are added, changed and removed by keyboard, and say how well they hold", async () => {
  const { page } = await openSample("?q=boat");
  await composedSearches(page, "boat");
  await openOptions(page);
  await page.getByRole("button", { name: "Add a condition: without…" }).click();
  await page.getByLabel("Without", { exact: true }).last().waitFor();
  const added = nextSearch(page, ({ none }) => none !== undefined);
  await page.keyboard.type("people");
  await page.keyboard.press("Enter");
  expect(await added).toMatchObject({ query: "boat", none: ["people"] });
  const conditions = page.getByRole("list", { name: "Conditions" }).first();
  await conditions.getByText("people (88 %)").waitFor();
  expect(await page.getByRole("button", { name: "Add a step: then…" }).isDisabled()).toBe(true);

  const changed = nextSearch(page, ({ none }) => none?.[0] !== "people");
  await page.getByLabel("Without", { exact: true }).last().fill("a dog");
  await page.getByLabel("Seconds around the moment that count").fill("5");
  expect(await changed).toMatchObject({ none: ["a dog"] });
  const widened = nextSearch(page, (body) => body.scope_seconds !== undefined);
  await page.getByLabel("Seconds around the moment that count").press("Enter");
  expect(await widened).toMatchObject({ none: ["a dog"], scope_seconds: 5 });
  await page.waitForURL(/none=a\+dog&around=5/);

  await page.getByLabel("Without", { exact: true }).last().focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  const removed = nextSearch(page, ({ none }) => none === undefined);
  await page.keyboard.press("Backspace");
  expect(await removed).not.toHaveProperty("none");
  await heading(page, /moments? for “boat”$/).waitFor();
});

it("a search for “without” offers its conditions, which one click takes over", async () => {
  const { page } = await openSample();
  await suggestedSearch(page, { query: "a boat", none: ["people"] });
  await visit(page, "?q=a+boat+without+people");
  await composedSearches(page, "boat");
  const sent = nextSearch(page, ({ none }) => none !== undefined);
  await page.getByRole("link", { name: "Search for “a boat” without “people”" }).click();
  expect(await sent).toMatchObject({ query: "a boat", none: ["people"] });
  await heading(page, /for “a boat”, without “people”/).waitFor();
  expect(await page.locator("#text").inputValue()).toBe("a boat");
});

it("a search by a file has no steps and conditions, and its note says so", async () => {
  const { page } = await openSample("?image=1&name=a.jpg&then=b&none=c");
  await page.getByText(/no steps, conditions, boxes or masks/).waitFor();
  expect(await page.getByRole("button", { name: "Add a step: then…" }).isVisible()).toBe(false);
});

function heading(page: Page, name: RegExp) {
  return page.getByRole("heading", { name });
}

/** Goes to another hash of the open index. */
async function visit(page: Page, rest: string): Promise<void> {
  await page.evaluate(`location.hash = location.hash.split("?")[0] + ${JSON.stringify(rest)}`);
}

async function playedFrom(page: Page): Promise<number> {
  await expect
    .poll(() => page.evaluate("document.querySelector('video')?.currentTime"))
    .toBeGreaterThan(0);
  return page.evaluate("document.querySelector('video').currentTime");
}
