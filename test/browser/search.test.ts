import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { WATCHDOG_MS } from "../support/watchdog.ts";
import { openOptions, openSample, submit } from "./console-page.ts";
import { samplePath } from "./sample-files.ts";

const HIT = ".card.moment";
/** What a search by the seconds 12 to 18 of the video finds: copies are aligned to the clip. */
const PART = /0:1[12]–0:1[789]/;

it("an image that is chosen, dropped or pasted finds the same image", async () => {
  const { page } = await openSample();
  const image = await samplePath("nagasaki.jpg");
  await page.getByLabel(/^Search by image or clip/).setInputFiles(image);
  await expectFirstHit(page, "nagasaki.jpg");
  for (const type of ["drop", "paste"] as const) {
    await page.getByRole("button", { name: "Remove the example" }).click();
    await page.getByRole("list", { name: "Videos and images" }).waitFor();
    await give(page, type, image);
    await expectFirstHit(page, "nagasaki.jpg");
  }
  await page.getByRole("heading", { name: /like “nagasaki\.jpg”/ }).waitFor();
});

it("a clip with a start and an end finds that part of its video", async () => {
  const { page } = await openSample();
  await page.getByLabel(/^Search by image or clip/).setInputFiles(await samplePath("story.mp4"));
  await page.getByLabel("Start of the clip in seconds").fill("12");
  await page.getByLabel("End of the clip in seconds").fill("18");
  await page.getByLabel("End of the clip in seconds").press("Enter");
  await firstHit(page).getByText(PART).waitFor();
});

it("a part of a stored video finds the moment that it lies in", async () => {
  const { page } = await openSample();
  await page.getByRole("button", { name: "Play story.mp4" }).click();
  await page.getByText("Search by a part of this video").click();
  await seekTo(page, 12);
  await page.getByRole("button", { name: "Start here" }).click();
  await seekTo(page, 18);
  await page.getByRole("button", { name: "End here" }).click();
  await page.getByRole("button", { name: "Find footage like this" }).click();
  await page.getByRole("heading", { name: /like “story\.mp4”/ }).waitFor();
  await firstHit(page).getByText(PART).waitFor();
});

it("“More like this” shows results with their example, which a reload restores", async () => {
  const { page } = await openSample();
  await page.getByRole("button", { name: "More like this: nagasaki.jpg" }).click();
  await page.getByRole("heading", { name: /like “nagasaki\.jpg”/ }).waitFor();
  await firstHit(page).waitFor();
  await page.reload();
  await firstHit(page).waitFor();
  await page.getByRole("button", { name: "Remove the example" }).click();
  await expect.poll(() => page.locator(".card.asset").count()).toBe(3);
});

it("a misspelled word is corrected, and one click searches for it as written", async () => {
  const { page } = await openSample("?q=glaceir -carpenter");
  await page.getByRole("heading", { name: /for “glacier -carpenter”/ }).waitFor();
  await expectFirstHit(page, "story.mp4");
  await page.getByText("Without “carpenter”.").waitFor();
  await page.getByRole("link", { name: "Search for “glaceir -carpenter” instead" }).click();
  await page.getByRole("heading", { name: /for “glaceir -carpenter”/ }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: /for “glaceir -carpenter”/ }).waitFor();
});

it("a filter leaves only assets whose metadata fit it, and an unreadable one says why", async () => {
  const { page } = await openSample("?q=boat");
  await expectFirstHit(page, "nagasaki.jpg");
  await openOptions(page);
  await page.getByRole("button", { name: "Add a filter" }).click();
  await page.getByLabel("Field of the metadata").fill("year");
  await page.getByLabel("Comparison").selectOption({ label: "is more than" });
  await page.getByLabel("Value", { exact: true }).fill("1868");
  await page.getByLabel("Value", { exact: true }).press("Enter");
  await expectFirstHit(page, "alps.jpg");
  expect(await page.locator(HIT).count()).toBe(1);
  await page.reload();
  await expectFirstHit(page, "alps.jpg");
  await page.getByLabel("Field of the metadata").fill("duration_seconds");
  await page.getByLabel("Field of the metadata").press("Enter");
  await page.waitForURL(/duration_seconds/);
  await page.getByLabel("Value", { exact: true }).fill("long");
  await page.getByLabel("Value", { exact: true }).press("Enter");
  await page
    .getByRole("alert")
    .getByText(/number/)
    .waitFor();
});

it("a search names the videos with sound and without a transcript, whose speech it doesn't find", async () => {
  const { page } = await openSample();
  const message = "The model @cf/openai/whisper-tiny-en is not available (5007). Ask.";
  await page.route(/\/index\/valley\?/, async (route) => {
    const response = await route.fetch({ timeout: WATCHDOG_MS });
    const json = (await response.json()) as { assets: { title: string; warnings: object[] }[] };
    const story = json.assets.find(({ title }) => title === "story.mp4");
    story?.warnings.push({ code: "model_not_found", message });
    return route.fulfill({ response, json });
  });
  await page.reload();
  await page.locator(".card .warning").getByText("Speech isn't recognised").waitFor();
  const note = page.getByText("1 video has sound but no transcript");
  await note.waitFor();
  await submit(page, "boat");
  await note.click();
  await page.locator("[data-part=unheard]").getByRole("link", { name: "story.mp4" }).click();
  await page.waitForURL(/asset=vid_/);
  await note.waitFor({ state: "hidden" });
});

it("a filter that leaves nothing is named, and its folders have a line on the cards", async () => {
  const { page } = await openSample();
  await page.route(/\/search$/, async (route) => {
    const response = await route.fetch({ timeout: WATCHDOG_MS });
    const json = (await response.json()) as { segments: { folder: string }[] };
    for (const hit of json.segments) hit.folder = "Donaudampfschifffahrt".repeat(5);
    return route.fulfill({ response, json });
  });
  await submit(page, "boat");
  const card = page.locator(".card.moment").first();
  const folder = card.locator(".folder");
  expect(await folder.getAttribute("title")).toMatch(/^Donau/);
  const [outer, thumbs] = [await card.boundingBox(), await card.locator(".thumbs").boundingBox()];
  expect(thumbs!.x + thumbs!.width).toBeLessThan(outer!.x + outer!.width);
  const filter = encodeURIComponent(JSON.stringify({ folder: { $eq: "Norway" } }));
  await page.goto(`${page.url()}&filter=${filter}`);
  await page.getByText("passes the filter “folder is Norway”").waitFor();
});

it("the slider leaves only results of at least its score", async () => {
  const { page } = await openSample("?q=carpenter");
  await expectFirstHit(page, "story.mp4");
  await openOptions(page);
  await page.getByRole("slider", { name: "Results" }).fill("0.9");
  await expect
    .poll(() => listScores(page))
    .toSatisfy((scores: number[]) => {
      return scores.length > 0 && scores.every((score) => score >= 90);
    });
  await page.getByText("Very likely only").waitFor();
});

it("boxes are drawn on a video while it is paused in the moment, and not while it plays", async () => {
  const { page } = await openSample("?q=clock&boxes=1&modes=video");
  await firstHit(page).getByRole("button", { name: "Play story.mp4" }).click();
  await page.getByRole("list", { name: "What is marked" }).getByText(/clock/).waitFor();
  await expect.poll(() => page.evaluate("document.querySelector('video').paused")).toBe(false);
  expect(await page.locator(".overlay").isVisible()).toBe(false);
  await page.keyboard.press("k");
  await page.locator(".overlay rect").first().waitFor();
});

it("a search in words and by an image lists results for both", async () => {
  const { page } = await openSample();
  const image = await samplePath("alps.jpg");
  await page.getByLabel(/^Search by image or clip/).setInputFiles(image);
  await firstHit(page).waitFor();
  await submit(page, "mountain");
  await page.getByRole("heading", { name: /like “alps\.jpg”, for “mountain”/ }).waitFor();
  await expectFirstHit(page, "alps.jpg");
});

function firstHit(page: Page) {
  return page.locator(HIT).first();
}

async function expectFirstHit(page: Page, title: string): Promise<void> {
  await firstHit(page).getByRole("heading", { name: title }).waitFor();
}

/** Returns the scores of all results in percent. */
async function listScores(page: Page): Promise<number[]> {
  const texts = await page
    .locator(HIT)
    .getByText(/\(\d+ %\)/)
    .allTextContents();
  return texts.map((text) => Number(/(\d+) %/.exec(text)![1]));
}

/** Drops or pastes a file on the search field. */
async function give(page: Page, type: "drop" | "paste", path: string): Promise<void> {
  const base64 = await readFile(path, "base64");
  const file = JSON.stringify({ base64, name: basename(path) });
  await page.getByRole("searchbox").first().focus();
  await page.evaluate(`(() => {
    const { base64, name } = ${file};
    const data = new DataTransfer();
    const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
    data.items.add(new File([bytes], name, { type: "image/jpeg" }));
    const options = { bubbles: true, cancelable: true };
    document.activeElement.dispatchEvent(${JSON.stringify(type)} === "drop"
      ? new DragEvent("drop", { ...options, dataTransfer: data })
      : new ClipboardEvent("paste", { ...options, clipboardData: data }));
  })()`);
}

/** Pauses the open video at a position in seconds. */
async function seekTo(page: Page, seconds: number): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const video = document.querySelector("video");
    video.pause();
    video.addEventListener("seeked", done, { once: true });
    video.currentTime = ${seconds};
  })`);
}
