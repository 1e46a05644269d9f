import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { AWKWARD_INDEX, awkwardFiles } from "./awkward-files.ts";
import {
  INDEX_KEY,
  newAccountKey,
  openConsole,
  openPage,
  playedSeconds,
  SERVICE_URL,
} from "./console-page.ts";

it("a user signs in, searches and plays a moment by keyboard, and always sees the focus", async () => {
  const { page } = await openPage();
  await page.goto(SERVICE_URL);
  await page.getByLabel("API key").waitFor();
  await page.keyboard.type(INDEX_KEY);
  await page.keyboard.press("Enter");
  await page.locator(".card.index").waitFor();
  await tabTo(page, `a.over[href="#/${AWKWARD_INDEX}"]`);
  await page.keyboard.press("Enter");
  await page.locator(".card.asset").first().waitFor();
  expect(await describeFocus(page)).not.toBe("lost");

  await page.keyboard.press("/");
  expect(await describeFocus(page)).toBe("visible");
  await page.keyboard.type("Saturn");
  await page.keyboard.press("Enter");
  await page.locator(".card.moment").first().waitFor();
  await tabTo(page, ".card.moment button.over");
  await page.keyboard.press("Enter");
  await expect.poll(() => playedSeconds(page)).toBeGreaterThan(10);
  await tabTo(page, ".stage .close");
  await page.keyboard.press("Escape");
  await page.locator(".stage").waitFor({ state: "detached" });
  expect(await hasFocus(page, ".card.moment button.over")).toBe(true);
});

it("tabs reach every control of an index, each with a visible focus", async () => {
  const { page } = await openConsole();
  await page.goto(`${SERVICE_URL}/#/${AWKWARD_INDEX}`);
  await page.locator(".card.asset").first().waitFor();
  await tabTo(page, "[data-part=delete]");
});

it("a deletion by keyboard moves the focus to another control", async () => {
  const { page } = await openConsole(await newAccountKey());
  await page.getByLabel("Name of a new index").fill("few");
  await page.keyboard.press("Enter");
  const files = (await awkwardFiles()).filter(({ mimeType }) => mimeType === "image/jpeg");
  await page.getByLabel("Choose files").setInputFiles(files);
  await expect.poll(() => page.locator(".card.asset").count()).toBe(3);
  await tabTo(page, ".card.asset [aria-label^=Delete]");
  await page.keyboard.press("Enter");
  expect(await hasFocus(page, "dialog button[value=no]")).toBe(true);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".card.asset").count()).toBe(2);
  expect(await hasFocus(page, ".card.asset button")).toBe(true);
});

it("a retry by keyboard doesn't lose the focus", async () => {
  const { page } = await openConsole();
  await page.route(/\/index(\/|\?)/, (route) => route.abort());
  await page.reload();
  await tabTo(page, ".notice button");
  await page.unroute(/\/index(\/|\?)/);
  await page.keyboard.press("Enter");
  await page.locator(".card.index").waitFor();
  expect(await describeFocus(page)).not.toBe("lost");
});

/** Presses Tab until an element has the focus. Throws if the focus is lost or can't be seen. */
async function tabTo(page: Page, selector: string): Promise<void> {
  await page.locator(selector).first().waitFor();
  for (let presses = 0; presses < 100; presses++) {
    await page.keyboard.press("Tab");
    expect(await describeFocus(page)).toBe("visible");
    if (await hasFocus(page, selector)) return;
  }
  throw new Error(`Tab doesn't reach ${selector}.`);
}

function hasFocus(page: Page, selector: string): Promise<boolean> {
  return page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`);
}

/** Returns "visible", "lost", or the element whose focus can't be seen. */
function describeFocus(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const focused = document.activeElement;
    if (focused === document.body) return "lost";
    if (focused.matches("video")) return "visible"; // marked inside, in the browser's own controls
    const marked = [focused, focused.closest("label"), focused.closest(".field")];
    const isMarked = marked.filter(Boolean).some((element) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    });
    return isMarked ? "visible" : focused.outerHTML;
  })()`);
}
