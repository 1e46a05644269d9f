import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { awkwardFiles, type FormFile } from "./awkward-files.ts";
import { type ConsolePage, newAccountKey, openConsole, submit } from "./console-page.ts";

const SRT = "1\n00:00:01,000 --> 00:00:03,000\nThe lighthouse keeper waves.\n";

it("a user writes the transcript of a video without one, retimes, deletes and adds lines", async () => {
  const view = await openVideo();
  const { page } = view;
  await page.getByRole("button", { name: "Write one" }).click();
  await page.getByRole("button", { name: "Add a line" }).click();
  await page.getByLabel("Text of line 1").fill("A submarine surfaces.");
  await page.getByLabel("Start of line 1").fill("0:05");
  await page.getByLabel("End of line 1").fill("0:02");
  await save(page);
  await page.getByRole("alert").getByText("is before its start").waitFor();
  expect(await page.getByLabel("End of line 1").getAttribute("aria-invalid")).toBe("true");
  await page.getByLabel("End of line 1").fill("0:07.5");
  await save(page);
  await page.getByText("Searches use the new transcript").waitFor();
  expect(await readCues(page)).toEqual(["0:05A submarine surfaces."]);

  await page.getByRole("button", { name: "Edit transcript" }).click();
  await page.getByRole("button", { name: "Delete line 1" }).click();
  await page.getByRole("button", { name: "Restore line 1" }).click();
  await page.getByRole("button", { name: "Delete line 1" }).click();
  await page.evaluate("document.querySelector('video').currentTime = 3");
  await page.getByRole("button", { name: "Add a line" }).click();
  await page.getByLabel("Text of line 1").fill("A walrus sleeps.");
  await save(page);
  await page.getByText("Searches use the new transcript").waitFor();
  expect(await readCues(page)).toEqual(["0:03A walrus sleeps."]);
  expect(view.takeErrors()).toEqual([]);

  await submit(page, "walrus");
  await page.locator(".card.moment mark", { hasText: "walrus" }).first().waitFor();
});

it("lines that aren't saved outlast an error and closing the player, and a reload warns", async () => {
  const { page } = await openVideo();
  await page.getByRole("button", { name: "Write one" }).click();
  await page.getByRole("button", { name: "Add a line" }).click();
  await page.getByLabel("Text of line 1").fill("A walrus sleeps.");
  await page.route(/\/transcript$/, (route) => route.abort("connectionrefused"));
  await save(page);
  await page.getByText("The service can't be reached").waitFor();
  await page.unroute(/\/transcript$/);

  await page.getByRole("button", { name: "Close", exact: true }).click();
  await openFirstVideo(page);
  expect(await page.getByLabel("Text of line 1").inputValue()).toBe("A walrus sleeps.");
  const warning = page.waitForEvent("dialog");
  void page.reload().catch(() => {});
  const dialog = await warning;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.dismiss();
  await save(page);
  await page.getByText("Searches use the new transcript").waitFor();
});

it("a user uploads a transcript, downloads it, and sees why a file is refused", async () => {
  const { page } = await openVideo();
  const choose = (name: string, content: string) =>
    page
      .locator(".transcript input[type=file]")
      .setInputFiles([{ name, mimeType: "", buffer: Buffer.from(content) }]);
  await choose("broken.json", "[{");
  await page.getByRole("alert").getByText("it looks like JSON, but").waitFor();
  await choose("story.srt", SRT);
  await page.getByText("Searches use the new transcript").waitFor();
  expect(await readCues(page)).toEqual(["0:01The lighthouse keeper waves."]);

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "SRT" }).click();
  const saved = await download;
  expect(saved.suggestedFilename()).toMatch(/\.srt$/);
  expect(await readFile(await saved.path(), "utf8")).toContain("00:00:01,000 --> 00:00:03,000");

  await choose("story.srt", SRT.replace("waves", "sings"));
  await page.getByRole("dialog").getByRole("button", { name: "Replace" }).click();
  await page.locator(".cues").getByText("The lighthouse keeper sings.").waitFor();
});

it("a transcript that comes later goes to the video of its name, once", async () => {
  const { page } = await openVideo();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  const srt = { name: "Harbour.SRT", mimeType: "", buffer: Buffer.from(SRT) };
  const other = { ...srt, name: "beach.srt" };
  await page.getByLabel("Choose files").setInputFiles([srt, other]);
  await page.getByText("The transcript was added to “harbour.mp4”.").waitFor();
  await page.getByText("beach.srt has no video of the same name").waitFor();
  await page.getByLabel("Choose files").setInputFiles([await harbourFile(), srt]);
  await page.getByText("has an uploaded transcript already, which stays").waitFor();
  await openFirstVideo(page);
  expect(await readCues(page)).toEqual(["0:01The lighthouse keeper waves."]);
});

it("a video that is added again with a transcript gets it, and its warning goes away", async () => {
  const { page } = await openVideo();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.locator("details.warning").waitFor();
  const srt = { name: "harbour.srt", mimeType: "", buffer: Buffer.from(SRT) };
  await page.getByLabel("Choose files").setInputFiles([await harbourFile(), srt]);
  await page.getByText("The transcript was added to “harbour.mp4”.").waitFor();
  await expect.poll(() => page.locator("details.warning").count()).toBe(0);
});

/** Opens a video without a transcript, in an index of its own. */
async function openVideo(): Promise<ConsolePage> {
  const view = await openConsole(await newAccountKey());
  await view.page.getByLabel("Name of a new index").fill("films");
  await view.page.getByRole("button", { name: "Create index" }).click();
  await view.page.getByLabel("Choose files").setInputFiles([await harbourFile()]);
  await view.page.locator(".card.asset .state", { hasText: "moment" }).waitFor();
  await openFirstVideo(view.page);
  return view;
}

async function harbourFile(): Promise<FormFile> {
  const files = await awkwardFiles();
  const { mimeType, buffer } = files.find((file) => file.mimeType === "video/mp4")!;
  return { name: "harbour.mp4", mimeType, buffer };
}

async function openFirstVideo(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Play harbour.mp4" }).click();
  await page.locator(".transcript button").first().waitFor();
  const duration = () => page.evaluate("document.querySelector('video').duration");
  await expect.poll(duration).toBeGreaterThan(0);
}

function save(page: Page): Promise<void> {
  return page.getByRole("button", { name: "Save transcript" }).click();
}

function readCues(page: Page): Promise<string[]> {
  return page.locator(".transcript .cues .cue").allTextContents();
}
