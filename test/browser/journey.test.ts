import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { buildSamplePack } from "../../tools/sample/pack.ts";
import type { FormFile } from "./awkward-files.ts";
import {
  newAccountKey,
  openPage,
  playedSeconds,
  signIn,
  signOut,
  submit,
  SERVICE_URL,
} from "./console-page.ts";

/** Name of the greatest length, with every kind of character. */
const INDEX = `9.${"Ugly_index-NAME.".repeat(4)}`.slice(0, 64);
const VIDEO = `${"Ferien\u00a0in den Bergen 山 — הרים ".repeat(6)}.mp4`;
const IMAGE = `IMG_${"20261123".repeat(20)}.jpg`;

it("a user signs in, adds files, finds and plays a moment, asks, deletes and signs out", async () => {
  const key = await newAccountKey();
  const { page, takeErrors } = await openPage();
  await page.goto(SERVICE_URL);
  await page.getByLabel("API key").fill("sl_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("API key").waitFor();
  await signIn(page, key);
  await page.getByText("No index yet").waitFor();

  await page.getByLabel("Name of a new index").fill(INDEX);
  await page.getByRole("button", { name: "Create index" }).click();
  await page.getByRole("heading", { name: INDEX }).waitFor();
  await addFiles(page);
  await findMoment(page);
  await askQuestion(page);
  await deleteAll(page);

  await signOut(page);
  await page.getByLabel("API key").waitFor();
  await page.reload();
  await page.getByLabel("API key").waitFor();
  expect(takeErrors()).toEqual([]);
});

/** Records every state that cards of assets show, however briefly. */
const RECORD_STATES = `(() => {
  window.seenStates = new Set();
  const record = () => {
    for (const card of document.querySelectorAll(".card.asset")) {
      window.seenStates.add(card.querySelector(".state")?.textContent ?? "");
      if (card.querySelector("progress")) window.seenStates.add("a progress bar");
    }
  };
  new MutationObserver(record).observe(document.body, {
    childList: true, subtree: true, characterData: true,
  });
})()`;

/** Uploads a video with its transcript, and an image. Their progress is visible. */
async function addFiles(page: Page): Promise<void> {
  await page.evaluate(RECORD_STATES);
  await page.getByLabel("Choose files").setInputFiles(await readFiles());
  await page.getByText("Drop files").waitFor();
  const video = page.locator(".card.asset").filter({ hasText: VIDEO.trim() });
  await video.locator(".state").filter({ hasText: "moments" }).waitFor();
  expect(await page.evaluate("[...window.seenStates]")).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/Detecting|Analysing|Indexing/),
      "a progress bar",
    ]),
  );
  await page.locator(".card.asset").filter({ hasText: IMAGE }).getByText("Image").waitFor();
  await page.locator(".facts").getByText("1 video · 1 image").waitFor();
}

async function readFiles(): Promise<FormFile[]> {
  const { files } = await buildSamplePack();
  const [story, poster] = ["story.mp4", "poster.jpg"].map((name) =>
    files.find(({ path }) => basename(path) === name)!,
  );
  const transcript = VIDEO.replace(/mp4$/, "srt");
  return [
    { name: VIDEO, mimeType: "video/mp4", buffer: await readFile(story!.path) },
    { name: transcript, mimeType: "", buffer: await readFile(story!.transcript!) },
    { name: IMAGE, mimeType: "image/jpeg", buffer: await readFile(poster!.path) },
  ];
}

/** Searches for a word that is spoken after five seconds, and plays it. */
async function findMoment(page: Page): Promise<void> {
  await submit(page, "glacier");
  const hit = page.locator(".card.moment").first();
  await hit.getByText("0:05–0:09").waitFor();
  expect(await hit.locator("mark").first().textContent()).toBe("glacier");
  await hit.getByRole("button", { name: /^Play/ }).click();
  await expect.poll(() => playedSeconds(page)).toBeGreaterThan(5.3);
  expect(await playedSeconds(page)).toBeLessThan(10);
  await page.getByRole("button", { name: "Close" }).click();
}

async function askQuestion(page: Page): Promise<void> {
  await page.getByText("Ask", { exact: true }).click();
  await submit(page, "Who built the cabin?");
  await page.locator(".answer .text").getByText("carpenter").waitFor();
  await page.locator(".cite").first().click();
  await expect.poll(() => playedSeconds(page)).toBeGreaterThan(10);
}

/** Deletes the image, then the index. */
async function deleteAll(page: Page): Promise<void> {
  await page.goto(`${SERVICE_URL}/#/${INDEX}`);
  await page.getByRole("button", { name: `Delete ${IMAGE}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.locator(".facts").getByText("1 video · ").waitFor();
  await page.getByRole("button", { name: "Delete this index…" }).click();
  await page.getByRole("button", { name: "Delete the index" }).click();
  await page.getByText("No index yet").waitFor();
}
