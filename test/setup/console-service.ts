import { setTimeout as wait } from "node:timers/promises";
import { launchBrowser } from "../../tools/browser.ts";
import { type Service, withService } from "../../tools/service.ts";
import { onInterrupt } from "../../tools/stack/interrupt.ts";
import { AWKWARD_INDEX, awkwardFiles, type FormFile, truncated } from "../browser/awkward-files.ts";
import type { ConsoleService } from "./browser.ts";

const READY_MS = 120_000;
const POLL_MS = 300;

/** Runs a service with an index until SIGTERM. Prints a `ConsoleService` when it is ready. */
async function main(): Promise<void> {
  await (await launchBrowser()).close(); // fails here, once, if no browser can start
  const signal = onInterrupt();
  await withService({ log: () => {}, signal }, async (service) => {
    await fillIndex(service);
    const { url, key, keySecrets } = service;
    console.log(JSON.stringify({ url, key, keySecrets } satisfies ConsoleService));
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
}

async function fillIndex({ sightline }: Service): Promise<void> {
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
  for (const startedAt = Date.now(); Date.now() - startedAt < READY_MS; await wait(POLL_MS)) {
    const { states } = await sightline.indices.get(AWKWARD_INDEX);
    if (states.queued === 0 && states.processing === 0) return;
  }
  throw new Error(`The files weren't ready within ${READY_MS / 1000} s.`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
