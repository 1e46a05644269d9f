import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { photographPath } from "../../tools/sample/images.ts";
import { encodeVideo } from "../../tools/sample/video.ts";
import { newAccountKey, openConsole } from "./console-page.ts";

const SECONDS = 2;

/** Adds a generated film to a new index. Returns its card. */
async function addFilm(page: Page, name: string) {
  const folder = await mkdtemp(join(tmpdir(), "sightline-film-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  const scenes = [{ image: photographPath("nagasaki-boats"), seconds: SECONDS }];
  await encodeVideo(path, scenes, { width: 320, height: 180 });
  await page.getByLabel("Name of a new index").fill("films");
  await page.getByRole("button", { name: "Create index" }).click();
  await page.getByLabel("Choose files").setInputFiles([path]);
  const card = page.locator(".card.asset", { hasText: name });
  await card.getByText("1 moment").waitFor();
  return card;
}

/** Waits until the job of a copy has ended, on the page of jobs, and returns to the library. */
async function waitForCopy(page: Page, index: string) {
  const library = page.url();
  await page.goto(new URL("#/jobs", library).href);
  const row = page.locator("li, tr", { hasText: "Copy of a video that browsers play" }).first();
  await expect.poll(() => row.textContent()).toContain("Done");
  await page.goto(new URL(`#/${index}/library`, library).href);
  await page.reload();
}

const durationOf = (page: Page) =>
  page.evaluate<number>('document.querySelector(".stage video")?.duration ?? 0');

it("a film that browsers don't play gets a copy by itself, and its original is at hand", async () => {
  const { page, takeErrors } = await openConsole(await newAccountKey());
  const name = "holiday recording.mkv";
  const card = await addFilm(page, name);
  await waitForCopy(page, "films");
  await card.getByRole("button", { name: `Play ${name}` }).click();
  await expect.poll(() => durationOf(page)).toBeCloseTo(SECONDS, 1);
  const facts = page.locator(".stage .details");
  await facts.getByText("A copy as MP4, 320 × 180.").waitFor();
  const original = facts.getByRole("link", { name: "Download the original" });
  const downloading = page.waitForEvent("download");
  await original.click();
  expect((await downloading).suggestedFilename()).toBe(name);
  expect(takeErrors()).toEqual([]);
});

it("where a video can't be played, a copy can be asked for", async () => {
  const { page } = await openConsole(await newAccountKey());
  const name = "clip.mp4";
  const card = await addFilm(page, name);
  await page.route(/\/media\/.*clip\.mp4/, (route) => route.abort());
  await card.getByRole("button", { name: `Play ${name}` }).click();
  await page.getByRole("button", { name: "Make a copy that plays" }).click();
  await page.getByText("A copy is being made by a job.").waitFor();
  await page.unroute(/\/media\/.*clip\.mp4/);
  await waitForCopy(page, "films");
  await card.getByRole("button", { name: `Play ${name}` }).click();
  await expect.poll(() => durationOf(page)).toBeCloseTo(SECONDS, 1);
  await page.getByText("A copy as MP4, 320 × 180.").waitFor();
});
