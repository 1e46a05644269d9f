import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { openSample, playedSeconds, submit } from "./console-page.ts";

const TITLES = ["alps.jpg", "nagasaki.jpg", "story.mp4"];

it("the library is filtered by title, state and kind, and sorted", async () => {
  const { page } = await openSample();
  await expect.poll(async () => (await listTitles(page)).toSorted()).toEqual(TITLES);
  await page.getByLabel("Order", { exact: true }).selectOption("Title");
  await expect.poll(() => listTitles(page)).toEqual(TITLES);
  await page.getByLabel("Order", { exact: true }).selectOption("Longest first");
  await expect.poll(async () => (await listTitles(page))[0]).toBe("story.mp4");
  await page.getByLabel("Words of the title").fill("JPG");
  await expect.poll(async () => (await listTitles(page)).toSorted()).toEqual(TITLES.slice(0, 2));
  await page.getByText("2 of 3").waitFor();
  await page.getByLabel("Words of the title").fill("");
  await page.getByLabel("Kind", { exact: true }).selectOption("Videos");
  await expect.poll(() => listTitles(page)).toEqual(["story.mp4"]);
  await page.getByLabel("State", { exact: true }).selectOption("Failed");
  await expect.poll(() => listTitles(page)).toEqual([]);
});

it("a title and metadata that are edited are shown on the card and found by a filter", async () => {
  const { page } = await openSample();
  await page.getByRole("button", { name: "Edit alps.jpg" }).click();
  const editor = page.getByRole("dialog");
  await editor.getByRole("button", { name: "Add a field" }).click();
  await editor.getByLabel("Name", { exact: true }).last().fill("country");
  await editor.getByLabel("Value of new field").fill("France");
  await editor.getByRole("button", { name: "Save" }).click();
  await editor.waitFor({ state: "detached" });
  const filter = encodeURIComponent(JSON.stringify({ country: "France" }));
  await page.evaluate(`location.hash += ${JSON.stringify(`?q=mountain&filter=${filter}`)}`);
  await page.locator(".card.moment").getByRole("heading", { name: "alps.jpg" }).waitFor();
  expect(await page.locator(".card.moment").count()).toBe(1);
});

it("a transcript is searched, plays from a line, and an edited word is found", async () => {
  const { page } = await openSample();
  await page.getByRole("button", { name: "Play story.mp4" }).click();
  await page.getByLabel("Search the transcript").fill("carpenter");
  await page.getByText("1 line found").waitFor();
  await page.getByLabel("Search the transcript").press("Enter");
  await expect.poll(() => playedSeconds(page)).toBeGreaterThan(10.3);
  await page.getByRole("button", { name: "Edit transcript" }).click();
  await page.getByLabel("Text of line 4").fill("Nobody lives in it now but zeppelins.");
  await page.getByText("1 change, not saved yet.").waitFor();
  await page.getByRole("button", { name: "Save transcript" }).click();
  await page.getByText("Searches use the new transcript").waitFor();
  await submit(page, "zeppelins");
  const hit = page.locator(".card.moment").first();
  await hit.getByText("zeppelins", { exact: true }).waitFor();
  await hit.getByRole("heading", { name: "story.mp4" }).waitFor();
});

it("a cut list is downloaded as CSV, and in the chosen format of an editor", async () => {
  const { page } = await openSample("?q=carpenter");
  await page.getByRole("button", { name: "Add to cut list: story.mp4" }).first().click();
  await submit(page, "boat");
  await page.getByRole("button", { name: "Add to cut list: nagasaki.jpg" }).click();
  await page.getByRole("button", { name: "Cut list (2)" }).click();

  const list = page.getByRole("region", { name: "Cut list" });
  await page.getByRole("link", { name: "Health" }).click();
  await list.waitFor({ state: "hidden" });
  await page.goBack();
  await page.getByRole("button", { name: "Cut list (2)" }).click();
  await list.waitFor();

  const [header, video, image, end] = (await download(page, "CSV")).split("\r\n");
  expect(header).toContain("start_seconds");
  expect(video).toMatch(/story\.mp4/);
  expect(image).toMatch(/nagasaki\.jpg/);
  expect(end).toBe("");

  const lines = (await download(page, "edl")).split("\r\n");
  expect(lines.slice(0, 2)).toEqual(["TITLE: valley", "FCM: NON-DROP FRAME"]);
  expect(lines[3]).toMatch(
    /^001 {2}AX {7}B {5}C {8}00:00:(09|10):\d\d 00:00:(19|20):\d\d 01:00:00:00 /,
  );
  expect(lines[4]).toBe("* FROM CLIP NAME: story.mp4");
  expect(lines.slice(6)).toEqual([
    expect.stringMatching(/^M2 /),
    "* FROM CLIP NAME: nagasaki.jpg",
    "",
  ]);
  expect(await download(page, "otio")).toContain('"OTIO_SCHEMA": "Timeline.1"');

  await page.getByLabel("Format for an editor").selectOption("chapters");
  await page.getByRole("button", { name: "Download for an editor" }).click();
  await page.getByText("YouTube shows 3 chapters or more, not 2.").waitFor();
});

function listTitles(page: Page): Promise<string[]> {
  const list = page.getByRole("list", { name: "Videos and images" });
  return list.getByRole("heading").allTextContents();
}

/** Downloads the open cut list as CSV or in a format for editors, and returns its text. */
async function download(page: Page, format: "CSV" | "edl" | "otio"): Promise<string> {
  const isCsv = format === "CSV";
  if (!isCsv) await page.getByLabel("Format for an editor").selectOption(format);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: `Download ${isCsv ? "CSV" : "for an editor"}` }).click(),
  ]);
  expect(file.suggestedFilename()).toBe(`valley.${format.toLowerCase()}`);
  return readFile(await file.path(), "utf8");
}
