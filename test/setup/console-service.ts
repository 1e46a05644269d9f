import { setTimeout as wait } from "node:timers/promises";
import { launchBrowser } from "../../tools/browser.ts";
import { type Service, withService } from "../../tools/service.ts";
import { onInterrupt } from "../../tools/stack/interrupt.ts";
import { AWKWARD_INDEX, awkwardFiles, type FormFile, truncated } from "../browser/awkward-files.ts";
import type { ConsoleService } from "./browser.ts";

const READY_MS = 120_000;
const POLL_MS = 300;

/** Runs a service with an index until SIGTERM. Prints a `ConsoleService` as JSON when it is ready. */
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

async function fillIndex(service: Service): Promise<void> {
  await service.api.post("/index", { index_name: AWKWARD_INDEX });
  const files = await awkwardFiles();
  await Promise.all([truncated(files[0]!), ...files].map((file) => addFile(service, file)));
  for (const startedAt = Date.now(); Date.now() - startedAt < READY_MS; await wait(POLL_MS)) {
    const { index } = await service.api.get<{ index: { states: Record<string, number> } }>(
      `/index/${AWKWARD_INDEX}?limit=1`,
    );
    if (index.states["queued"] === 0 && index.states["processing"] === 0) return;
  }
  throw new Error(`The files weren't ready within ${READY_MS / 1000} s.`);
}

async function addFile({ url, key }: Service, file: FormFile): Promise<void> {
  const kind = file.mimeType.startsWith("video") ? "video" : "image";
  const body = new FormData();
  body.append(`${kind}_file`, new File([new Uint8Array(file.buffer)], file.name));
  const headers = { "X-API-Key": key };
  const path = `${url}/index/${AWKWARD_INDEX}/${kind}`;
  const response = await fetch(path, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`${file.name}: ${await response.text()}`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
