import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { openSample, signOut } from "./console-page.ts";

const CARD = ".card.moment";

it("a key changes the view of the results, and address, reload and another search keep it", async () => {
  const { page } = await openSample("?q=carpenter&duplicates=1");
  await page.locator(CARD).first().waitFor();
  const cardCount = await page.locator(CARD).count();
  await page.keyboard.press("v");
  await page.waitForURL(/layout=dense/);
  expect(await page.locator(`.grid.dense > ${CARD} .facts`).first().isVisible()).toBe(false);
  await page.keyboard.press("v");
  await page.waitForURL(/layout=rows/);
  await page.locator(".asset-row", { hasText: "story.mp4" }).first().waitFor();
  expect(await page.locator(CARD).count()).toBe(cardCount);
  await page.reload();
  await page.locator(".asset-row").first().waitFor();
  await page.locator("#text").fill("glacier");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "for “glacier”" }).waitFor();
  await page.locator(".asset-row").first().waitFor();
  expect(page.url()).toContain("layout=rows");
  await page.locator("#text").press("v"); // is typed
  expect(await page.locator("#text").inputValue()).toContain("v");
  await page.getByRole("button", { name: "Cards" }).click();
  expect(await page.locator(".asset-row").count()).toBe(0);
  expect(page.url()).not.toContain("layout");
});

it("a result in a row of its video plays below its row", async () => {
  const { page } = await openSample("?q=glacier&layout=rows");
  await page.getByRole("button", { name: "Play story.mp4" }).first().click();
  await page.locator(".asset-row .stage video").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".stage").waitFor({ state: "detached" });
});

it("the pointer on a picture and the arrow keys show the frames of the video's storyboard", async () => {
  const { page } = await openSample("?q=glacier&modes=video");
  const button = page.getByRole("button", { name: "Play story.mp4" }).first();
  const tag = button.locator(".tag");
  await tag.waitFor();
  const original = await tag.textContent();
  const box = (await button.boundingBox())!;
  await page.mouse.move(box.x + box.width - 3, box.y + 20);
  const preview = page.locator(".scrubbing .preview-frame");
  await preview.waitFor();
  const background = await preview.getAttribute("style");
  expect(background).toMatch(/storyboard\.jpg/u);
  const last = seconds(await tag.textContent());
  await page.mouse.move(box.x + 3, box.y + 20);
  await expect.poll(async () => seconds(await tag.textContent())).toBeLessThan(last);
  expect(await preview.getAttribute("style")).not.toBe(background);
  await page.mouse.move(0, 0);
  await page.locator(".scrubbing").waitFor({ state: "detached" });
  expect(await tag.textContent()).toBe(original);

  await button.focus();
  const step = (await hasEarlierMoment(page)) ? "ArrowLeft" : "ArrowRight";
  await page.keyboard.press(step);
  await page.locator(".scrubbing").waitFor();
  await page.locator("#text").focus();
  await page.locator(".scrubbing").waitFor({ state: "detached" });
});

it("the moments before and after the open one are below it, and play", async () => {
  const { page } = await openSample("?q=glacier&modes=video");
  await page.getByRole("button", { name: "Play story.mp4" }).first().click();
  const strip = page.getByRole("list", { name: "Moments before and after" });
  const current = strip.locator("[aria-current]");
  await current.waitFor();
  const other = strip.locator("button:not([aria-current])").first();
  const start = seconds(await other.locator(".tag").textContent());
  await other.press("Enter");
  await expect
    .poll(() => page.evaluate("Math.floor(document.querySelector('video').currentTime)"))
    .toBeLessThanOrEqual(start + 3);
  expect(seconds(await current.locator(".tag").textContent())).toBe(start);
});

it("a moment that was opened is marked, also after a reload, until the user signs out", async () => {
  const { page } = await openSample("?q=glacier&modes=video");
  const button = page.getByRole("button", { name: /^Play story\.mp4/ }).first();
  await button.click();
  await page.locator(".stage").waitFor();
  await button.getByText("Seen").waitFor();
  await page.reload();
  await button.getByText("Seen").waitFor();
  await signOut(page);
  await page.getByLabel("API key").waitFor();
  await expect
    .poll(() => page.evaluate("localStorage.getItem('sightline-viewed-moments')"))
    .toBe(null);
});

it("the key “?” lists the keys, and Escape closes the list", async () => {
  const { page } = await openSample("?q=glacier");
  await page.locator(CARD).first().waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).getByText("next view").waitFor();
  await page.keyboard.press("v");
  expect(page.url()).not.toContain("layout");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("button", { name: "Keyboard" }).click();
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
});

async function hasEarlierMoment(page: Page): Promise<boolean> {
  return seconds(await page.locator(`${CARD} .tag`).first().textContent()) > 0;
}

/** Reads the start of "0:12–0:18" or "0:12" in seconds. */
function seconds(text: string | null): number {
  const [, minutes, rest] = /^(\d+):(\d\d)/.exec(text!)!;
  return Number(minutes) * 60 + Number(rest);
}
