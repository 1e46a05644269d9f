import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { WATCHDOG_MS } from "../support/watchdog.ts";
import { AWKWARD_INDEX, awkwardFiles, type FormFile, unreadable } from "./awkward-files.ts";
import { newAccountKey, openConsole, SERVICE_URL } from "./console-page.ts";

const TEXT: FormFile = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("x") };
const NOTES: FormFile = { name: "notes.doc", mimeType: "", buffer: Buffer.from("x") };

it("files that are added while the library is still listed stay in view", async () => {
  const { page } = await openConsole(await newAccountKey());
  let letThrough = () => {};
  const uploaded = new Promise<void>((resolve) => (letThrough = resolve));
  // The list is computed before the uploads, and arrives after them.
  await page.route(/\/index\/few\?limit=100/, async (route) => {
    const response = await route.fetch({ timeout: WATCHDOG_MS });
    await uploaded;
    await route.fulfill({ response });
  });
  await createIndex(page, "few");
  const images = await imageFiles();
  await page.getByLabel("Choose files").setInputFiles(images);
  await expect.poll(() => page.locator(".card.asset").count()).toBe(images.length);
  letThrough();
  await page.locator("ul.grid:not([aria-busy])").waitFor();
  await page.locator(".facts", { hasText: "3 images" }).waitFor();
  expect(await page.locator(".card.asset").count()).toBe(images.length);
});

it("what can't be added is said in a notice of its own for each file, which can be dismissed", async () => {
  const { page } = await openConsole(await newAccountKey());
  await createIndex(page, "few");
  const [image] = await imageFiles();
  await page.getByLabel("Choose files").setInputFiles([image!]);
  await page.locator(".card.asset").waitFor();
  await page.getByLabel("Choose files").setInputFiles([TEXT, NOTES, image!]);
  const notices = page.locator(".notices .notice");
  await notices.getByText("This index already has this file").waitFor();
  await notices.getByText("notes.txt is neither").waitFor();
  expect(await notices.count()).toBe(3);
  await notices.filter({ hasText: "notes.doc" }).getByRole("button", { name: "Dismiss" }).click();
  expect(await notices.count()).toBe(2);
});

it("files that an index has already are said in one line, with their titles folded", async () => {
  const { page } = await openConsole(await newAccountKey());
  await createIndex(page, "few");
  const images = await imageFiles();
  await page.getByLabel("Choose files").setInputFiles(images);
  await expect.poll(() => page.locator(".card.asset").count()).toBe(images.length);
  await page.getByLabel("Choose files").setInputFiles(images);
  const notices = page.locator(".notices .notice");
  await notices.getByText(`${images.length} files are here already.`).click();
  expect(await notices.count()).toBe(1);
  await expect.poll(() => notices.getByRole("listitem").count()).toBe(images.length);
});

it("the card of an upload ends at its place in the order of the library", async () => {
  const { page } = await openConsole(await newAccountKey());
  await createIndex(page, "few");
  const [first, second] = await imageFiles();
  const titles = () => page.locator(".card.asset h3").allTextContents();
  await page.getByLabel("Choose files").setInputFiles([first!]);
  await expect.poll(titles).toHaveLength(1);
  const [oldest] = await titles();
  await page.getByLabel("Choose files").setInputFiles([second!]);
  await expect.poll(titles).toHaveLength(2);
  expect((await titles())[0]).toBe(oldest);
});

it("a refused file has no button to try again, which can't help", async () => {
  const { page } = await openConsole(await newAccountKey());
  await createIndex(page, "few");
  const [image] = await imageFiles();
  await page.getByLabel("Choose files").setInputFiles([unreadable(image!)]);
  const card = page.locator(".card.upload").filter({ hasText: "Not added" });
  await card.locator(".notice").waitFor();
  expect(await card.getByRole("button", { name: "Try again" }).count()).toBe(0);
  await card.getByRole("button", { name: /^Remove/ }).click();
  await card.waitFor({ state: "detached" });
});

it("filters and order of a library are in the address: a reload keeps them, a link resets them", async () => {
  const { page } = await openConsole();
  await page.goto(`${SERVICE_URL}/#/${AWKWARD_INDEX}`);
  await page.locator(".card.asset").first().waitFor();
  await page.getByLabel("State", { exact: true }).selectOption("failed");
  await page.getByLabel("Order", { exact: true }).selectOption("newest");
  await expect.poll(() => page.locator(".card.asset").count()).toBe(1);
  await page.reload();
  await expect.poll(() => page.locator(".card.asset").count()).toBe(1);
  expect(await page.getByLabel("State", { exact: true }).inputValue()).toBe("failed");
  expect(await page.getByLabel("Order", { exact: true }).inputValue()).toBe("newest");

  await page.getByRole("link", { name: "Health" }).click();
  await page.getByRole("heading", { name: "Health" }).waitFor();
  await page.getByRole("link", { name: "Library" }).click();
  await expect.poll(() => page.locator(".card.asset").count()).toBe(1);

  await page.goto(`${SERVICE_URL}/#/${AWKWARD_INDEX}`);
  await expect.poll(() => page.locator(".card.asset").count()).toBeGreaterThan(1);
  expect(await page.getByLabel("State", { exact: true }).inputValue()).toBe("");
});

async function createIndex(page: Page, name: string): Promise<void> {
  await page.getByLabel("Name of a new index").fill(name);
  await page.getByRole("button", { name: "Create index" }).click();
  await page.getByText("Drop files").waitFor();
}

async function imageFiles(): Promise<FormFile[]> {
  return (await awkwardFiles()).filter(({ mimeType }) => mimeType === "image/jpeg");
}
