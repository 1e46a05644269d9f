import { Sightline } from "sightline";
import { launchBrowser } from "../../tools/browser.ts";
import { addFile } from "../../tools/ingest-files.ts";
import { poll } from "../../tools/poll.ts";
import { withService } from "../../tools/service.ts";
import { createKey } from "../../tools/stack/api-key.ts";
import { onInterrupt } from "../../tools/stack/interrupt.ts";
import { AWKWARD_INDEX, awkwardFiles, type FormFile, truncated } from "../browser/awkward-files.ts";
import { SAMPLE_INDEX, sampleFiles } from "../browser/sample-files.ts";
import { WATCHDOG_MS } from "../support/watchdog.ts";
import type { ConsoleService } from "./browser.ts";

/** Runs a service with two accounts until SIGTERM. Prints a `ConsoleService` when it is ready. */
async function main(): Promise<void> {
  await (await launchBrowser()).close(); // fails here, once, if no browser can start
  const signal = onInterrupt();
  await withService({ log: () => {}, signal }, async (service) => {
    const { url, key, keySecrets, sightline } = service;
    const sampleKey = await createKey(keySecrets, { account: "sample" });
    await Promise.all([
      fillAwkwardIndex(sightline),
      fillSampleIndex(new Sightline({ url, apiKey: sampleKey, signal })),
    ]);
    const ready = { url, key, sampleKey, keySecrets };
    console.log(JSON.stringify(ready satisfies Omit<ConsoleService, "webhooksOrigin">));
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
}

async function fillAwkwardIndex(sightline: Sightline): Promise<void> {
  await sightline.indices.create({ index_name: AWKWARD_INDEX });
  const { videos, images } = sightline.index(AWKWARD_INDEX);
  const files = await awkwardFiles();
  const add = ({ name, mimeType, buffer }: FormFile) => {
    const file = new File([new Uint8Array(buffer)], name);
    return mimeType === "video/mp4"
      ? videos.add({ video_file: file })
      : images.add({ image_file: file });
  };
  await Promise.all([truncated(files[0]!), ...files].map(add));
  await waitUntilSettled(sightline, AWKWARD_INDEX);
}

/** Adds videos and images of the sample pack, with transcript and metadata. */
async function fillSampleIndex(sightline: Sightline): Promise<void> {
  await sightline.indices.create({ index_name: SAMPLE_INDEX });
  const index = sightline.index(SAMPLE_INDEX);
  await Promise.all((await sampleFiles()).map((file) => addFile(index, file)));
  await waitUntilSettled(sightline, SAMPLE_INDEX);
}

async function waitUntilSettled(sightline: Sightline, index: string): Promise<void> {
  await poll(WATCHDOG_MS, "Indexing the files", async () => {
    const { states } = await sightline.indices.get(index);
    return states.queued === 0 && states.processing === 0 ? states : null;
  });
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
