import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { writePaddedVideo, writeShortVideo } from "../large-video.ts";
import type { Service } from "../../tools/service.ts";
import type { ConsolePage } from "./browser.ts";

const MB = 1_000_000;
const FILE_MB = 60;
const INDEX = "large";
/** Slow enough that the upload runs while its states are checked. */
const SLOW_BYTES_PER_SECOND = 1.5 * MB;
const TIMEOUT_MS = 2 * 60_000;

/** Result of a large upload that was paused, cut off and continued after a reload. */
export interface LargeUpload {
  megabytes: number;
  requests: number;
  /** Megabytes that the service had when the reloaded page continued. */
  continued_at_mb: number;
  isIdentical: boolean;
  /** Uploads that the service still has after the last one was removed while it ran. */
  open: number;
}

/** Counts what is wrong with a result. */
export function countProblems({ continued_at_mb: mb, isIdentical, open }: LargeUpload): number {
  return [mb === 0, !isIdentical, open > 0].filter(Boolean).length;
}

/**
 * Uploads a file of over 50 MB in the console: pauses, breaks connections, reloads the page, and
 * chooses the file again, now with a transcript. Then removes another upload while it runs. Throws
 * if a step isn't reached.
 */
export async function checkLargeUpload(
  service: Service,
  { page, context }: ConsolePage,
  check: (state: string) => Promise<void>,
): Promise<LargeUpload> {
  const { url, sightline, folder } = service;
  const [file, other] = [join(folder, "large.mp4"), join(folder, "other.mp4")];
  const short = await writeShortVideo(folder);
  await writePaddedVideo(short, file, FILE_MB * MB);
  await writePaddedVideo(short, other, FILE_MB * MB);
  const transcript = join(folder, "large.srt");
  await writeFile(transcript, "1\n00:00:00,500 --> 00:00:02,000\nA caption in a file.\n");
  await sightline.indices.create({ index_name: INDEX });
  const offsets = recordOffsets(page);
  page.on("dialog", (dialog) => void dialog.accept()); // "Leave this page?"
  const network = await context.newCDPSession(page);

  await page.goto(`${url}/#/${INDEX}`);
  await limitUpload(network, SLOW_BYTES_PER_SECOND);
  await chooseFiles(page, [file]);
  await page.getByText(/^Uploading, \d/).waitFor();
  await check("a large upload, running");
  await page.getByRole("button", { name: /^Pause / }).click();
  await page.getByText("Paused at").waitFor();
  await check("a large upload, paused");
  const requests = new RegExp(`/index/${INDEX}/uploads/`);
  await page.route(requests, (route) => route.abort("connectionreset"));
  await page.getByRole("button", { name: /^Continue / }).click();
  await page.getByText("Interrupted, trying again").waitFor();
  await page.unroute(requests);
  await page.getByText(/^Uploading, \d/).waitFor();

  await page.reload();
  await page.getByText("Stopped at").waitFor();
  await check("a large upload, after a reload");
  const requestsBefore = offsets.length;
  await limitUpload(network, -1);
  await chooseFiles(page, [file, transcript]);
  await page.getByText("now has the transcript").waitFor({ timeout: TIMEOUT_MS });
  const { items: assets } = await sightline.index(INDEX).assets();
  const hash = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");

  await limitUpload(network, SLOW_BYTES_PER_SECOND);
  await chooseFiles(page, [other]);
  await page.getByText(/^Uploading, \d/).waitFor();
  await page.getByRole("button", { name: /^Remove other/ }).click();
  await page.locator(".card.upload").waitFor({ state: "detached" });
  const { total } = await sightline.index(INDEX).uploads.list();
  return {
    megabytes: FILE_MB,
    requests: offsets.length,
    continued_at_mb: Math.round((offsets[requestsBefore] ?? 0) / MB),
    isIdentical: assets.length === 1 && assets[0]?.sha256 === hash,
    open: total,
  };
}

async function chooseFiles(page: Page, files: string[]): Promise<void> {
  await page.locator("input[data-part=files]").setInputFiles(files);
}

/** Limits how fast the page sends; -1 for no limit. */
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
