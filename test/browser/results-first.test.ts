import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { AWKWARD_INDEX } from "./awkward-files.ts";
import { INDEX_KEY, openConsole, openOptions, openSample, submit } from "./console-page.ts";

const HIT = ".card.moment button.over";

it("the first hit is on the first screen of a phone, with its picture and its title", async () => {
  const { page } = await openSample("?q=boat");
  await page.setViewportSize({ width: 390, height: 844 });
  const title = page.locator(".card.moment h3").first();
  await title.waitFor();
  expect(await bottomOf(page, HIT)).toBeLessThan(844);
  expect(await bottomOf(page, ".card.moment h3")).toBeLessThan(844);
});

it("the pictures of two rows of hits are on the first screen of a laptop", async () => {
  const { page } = await openConsole(INDEX_KEY, `#/${AWKWARD_INDEX}?q=submarine`);
  await page.setViewportSize({ width: 1366, height: 768 });
  await page.locator(HIT).nth(6).waitFor();
  await page.getByText("This service finds 80 kinds of objects").waitFor(); // none is likely
  const bottoms = await page.locator(HIT).evaluateAll((buttons) => {
    return buttons.map((button) => button.getBoundingClientRect().bottom);
  });
  expect(new Set(bottoms.filter((bottom) => bottom <= 768)).size).toBe(2);
});

it("after a search, Tab reaches the first hit in six steps at most", async () => {
  const { page } = await openSample();
  await submit(page, "boat");
  await page.locator(HIT).first().waitFor();
  for (let steps = 0; steps < 6 && !(await isFocused(page, HIT)); steps++) {
    await page.keyboard.press("Tab");
  }
  expect(await isFocused(page, HIT)).toBe(true);
});

it("the link before the page leads to the first hit, and the address stays as it is", async () => {
  const { page } = await openSample("?q=boat");
  await page.reload();
  await page.locator(HIT).first().waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(await isFocused(page, HIT)).toBe(true);
  expect(page.url()).toContain("?q=boat");
});

it("options are folded until the field has the focus, and those that are set stay visible", async () => {
  const { page } = await openSample("?q=boat&modes=image");
  await page.locator(HIT).first().waitFor();
  const option = (name: string) => page.locator("#search-options").getByText(name, { exact: true });
  expect(await option("Images").isVisible()).toBe(true);
  expect(await option("Videos").isVisible()).toBe(false);
  await page.locator("#text").focus();
  await option("Videos").waitFor();
  await submit(page, "boat");
  await option("Videos").waitFor({ state: "hidden" });
  await openOptions(page);
  await option("Images").click();
  await page.waitForURL((url) => !url.hash.includes("modes"));
  await option("Videos").waitFor(); // a choice doesn't fold them
});

function bottomOf(page: Page, selector: string): Promise<number> {
  return page
    .locator(selector)
    .first()
    .evaluate((element) => element.getBoundingClientRect().bottom);
}

function isFocused(page: Page, selector: string): Promise<boolean> {
  return page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`);
}
