import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { newAccountKey, openConsole } from "./console-page.ts";
import { samplePath } from "./sample-files.ts";

const INDEX = "folders";

it("a dropped folder is walked: its videos and images are added, with transcripts beside them", async () => {
  const folder = await writeFolder();
  const { page } = await openIndex();
  await drop(page, [folder]);
  await page.getByText("notes.txt is neither a video, sound nor an image").waitFor();
  await expectAdded(page);
});

it("a chosen folder is added as a dropped one is", async () => {
  const folder = await writeFolder();
  const { page } = await openIndex();
  await page.getByLabel("Choose folder").setInputFiles(folder);
  await expectAdded(page);
});

it("the service decides by its bytes what a file is, whatever its name says", async () => {
  const { page } = await openIndex();
  const image = await readFile(await samplePath("alps.jpg"));
  const files = ["photo.cr3", "photo.mp4", "photo"].map((name, i) => {
    return { name, mimeType: "", buffer: Buffer.concat([image, Buffer.alloc(i)]) };
  });
  const text = { name: "broken.wmv", mimeType: "", buffer: Buffer.from("not a video") };
  await page.getByLabel("Choose files").setInputFiles([...files, text]);
  const added = page.locator(".card.asset").filter({ hasText: "photo" });
  await expect.poll(() => added.count()).toBe(3);
  await expect.poll(() => added.getByText("Image", { exact: true }).count()).toBe(3);
  const refused = page.locator(".card.upload").filter({ hasText: "broken.wmv" });
  await refused.getByText("The file is a text file").waitFor();
  await page.reload();
  await expect.poll(() => added.count()).toBe(3);
  expect(await page.locator(".card.upload").count()).toBe(0);
});

/** Writes a folder with a video and its transcript, an image below it, a text and a hidden file. */
async function writeFolder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "sightline-folder-"));
  onTestFinished(() => rm(root, { recursive: true }));
  const folder = join(root, "holiday");
  await mkdir(join(folder, "day 1"), { recursive: true });
  await copyFile(await samplePath("story.mp4"), join(folder, "story.mp4"));
  await writeFile(
    join(folder, "story.srt"),
    "1\n00:00:00,500 --> 00:00:02,000\nGeese fly south.\n",
  );
  await copyFile(await samplePath("alps.jpg"), join(folder, "day 1/alps.jpg"));
  await writeFile(join(folder, "notes.txt"), "Buy milk.");
  await writeFile(join(folder, ".DS_Store"), "x");
  return folder;
}

async function openIndex() {
  const opened = await openConsole(await newAccountKey());
  await opened.page.getByLabel("Name of a new index").fill(INDEX);
  await opened.page.getByRole("button", { name: "Create index" }).click();
  await opened.page.getByText("Drop files or folders").waitFor();
  return opened;
}

async function expectAdded(page: Page): Promise<void> {
  const cards = page.locator(".card.asset");
  await cards
    .filter({ hasText: "story.mp4" })
    .getByText(/\d moments?$/)
    .waitFor();
  await cards.filter({ hasText: "alps.jpg" }).getByText("Image", { exact: true }).waitFor();
  expect(await cards.count()).toBe(2);
  expect(await page.getByText("DS_Store").count()).toBe(0);
  await page.goto(`${page.url()}?q=geese`);
  await page.locator(".card.moment mark").first().waitFor();
}

/** Drops files and folders of the disk on the page, as a file manager does. */
async function drop(page: Page, paths: string[]): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    await cdp.send("Input.dispatchDragEvent", { type, x: 400, y: 400, data });
  }
}
