import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { CDPSession, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { writePaddedVideo, writeShortVideo } from "../../bench/large-video.ts";
import { newAccountKey, openConsole, SERVICE_URL } from "./console-page.ts";

const MB = 1_000_000;
const INDEX = "large";

it("an upload of 300 MB continues after a reload and arrives complete, with its transcript", async () => {
  const file = await writeLargeVideo(300 * MB);
  const key = await newAccountKey();
  const { page, context } = await openIndex(key);
  const offsets = recordOffsets(page);
  const network = await context.newCDPSession(page);
  await limitUpload(network, 15 * MB); // leaves seconds for the reload on a busy machine
  await chooseFile(page, file);
  await expect.poll(() => sentShare(page)).toBeGreaterThan(0.3);
  await page.reload();
  await page.getByText("Stopped at").waitFor();
  await limitUpload(network, -1);
  const requestsBefore = offsets.length;
  const transcript = file.replace(/mp4$/, "srt");
  await writeFile(transcript, "1\n00:00:00,500 --> 00:00:02,000\nA caption in a file.\n");
  await chooseFile(page, file, transcript);
  await page.getByText("The transcript was added to").waitFor();

  expect(offsets[requestsBefore]).toBeGreaterThan(20 * MB);
  const response = await fetch(`${SERVICE_URL}/index/${INDEX}`, {
    headers: { "X-API-Key": key },
  });
  const { assets } = (await response.json()) as { assets: object[] };
  expect(assets).toMatchObject([{ size_bytes: 300 * MB, sha256: await hashFile(file) }]);
});

it("an upload in parts is paused, interrupted, continued and removed", async () => {
  const file = await writeLargeVideo(60 * MB);
  const key = await newAccountKey();
  const { page, context } = await openIndex(key);
  await limitUpload(await context.newCDPSession(page), 3 * MB);
  await chooseFile(page, file);
  await page.getByText(/^Uploading, \d/).waitFor();
  await page.getByRole("button", { name: /^Pause / }).click();
  await page.getByText("Paused at").waitFor();
  const requests = new RegExp(`/index/${INDEX}/uploads/`);
  await page.route(requests, (route) => route.abort("connectionreset"));
  await page.getByRole("button", { name: /^Continue / }).click();
  await page.getByText("Interrupted, trying again").waitFor();
  await page.unroute(requests);
  await page.getByText(/^Uploading, \d/).waitFor();
  await page.getByRole("button", { name: /^Remove / }).click();
  await page.locator(".card.upload").waitFor({ state: "detached" });
  const headers = { "X-API-Key": key };
  const response = await fetch(`${SERVICE_URL}/index/${INDEX}/uploads`, { headers });
  expect(await response.json()).toMatchObject({ uploads: [], total: 0 });
});

async function writeLargeVideo(bytes: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-large-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "large.mp4");
  await writePaddedVideo(await writeShortVideo(folder), file, bytes);
  return file;
}

async function openIndex(key: string) {
  const opened = await openConsole(key);
  opened.page.on("dialog", (dialog) => void dialog.accept()); // "Leave this page?"
  await opened.page.getByLabel("Name of a new index").fill(INDEX);
  await opened.page.getByRole("button", { name: "Create index" }).click();
  await opened.page.getByRole("heading", { name: INDEX }).waitFor();
  return opened;
}

async function chooseFile(page: Page, ...files: string[]): Promise<void> {
  await page.getByLabel("Choose files").setInputFiles(files);
}

/** Returns how much of the file was sent (0 to 1). */
function sentShare(page: Page): Promise<number> {
  return page.evaluate("document.querySelector('.upload progress')?.value ?? 0");
}

/** Limits how many bytes a second the page sends; -1 for no limit. */
async function limitUpload(network: CDPSession, uploadThroughput: number): Promise<void> {
  await network.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput,
  });
}

/** Collects at which byte each request of an upload continues. */
function recordOffsets(page: Page): number[] {
  const offsets: number[] = [];
  page.on("request", (request) => {
    if (request.method() === "PATCH") offsets.push(Number(request.headers()["upload-offset"]));
  });
  return offsets;
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
