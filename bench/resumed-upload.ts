import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Asset, IngestFailedError, type SightlineIndex } from "sightline";
import type { SuiteOptions } from "../tools/suite.ts";
import { startUnreliableNetwork } from "./bad-network.ts";
import { writeShortVideo, writePaddedVideo } from "./large-video.ts";
import { withRestarts } from "./service-restarts.ts";
import { uploadByTus } from "./tus-upload.ts";

const MB = 1_000_000;
const TIMEOUT_MS = 5 * 60_000;

export interface DisruptionPlan {
  megabytes: number;
  /** Number of times the connection is cut; cuts and restarts come at equal distances in bytes. */
  cuts: number;
  restarts: number;
}

export interface ResumedUpload {
  sent_mb: number;
  cuts: number;
  restarts: number;
  seconds: number;
  state: string;
  isIdentical: boolean;
}

/**
 * Uploads a video with tus-js-client through a proxy that cuts connections, to a service that
 * restarts, then downloads it and compares the hashes.
 */
export async function resumeUpload(
  plan: DisruptionPlan,
  options: Pick<SuiteOptions, "log" | "signal">,
): Promise<ResumedUpload> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-resumed-"));
  try {
    const path = join(folder, "large.mp4");
    await writePaddedVideo(await writeShortVideo(folder), path, plan.megabytes * MB);
    const bytes = await readFile(path);
    return await withRestarts(options, async (start) => {
      let service = await start();
      const network = await startUnreliableNetwork(Number(new URL(service.url).port));
      const startedAt = performance.now();
      try {
        await service.sightline.indices.create({ index_name: "large" });
        const sending = uploadByTus(bytes, `${network.origin}/index/large/uploads`, service.key);
        const done = new AbortController();
        const disruption = (async () => {
          for (const [i, kind] of listDisruptions(plan).entries()) {
            const share = (i + 1) / (plan.cuts + plan.restarts + 1);
            await Promise.race([
              network.afterSent(share * bytes.length),
              untilAborted(done.signal),
            ]);
            if (done.signal.aborted) throw new Error(`The upload ended before event ${i + 1}.`);
            if (kind === "restart") {
              await service.stop();
              service = await start();
            }
            network.disconnectAll();
            options.log(`${kind} at ${Math.round(network.sentBytes() / MB)} MB`);
          }
        })();
        const [url] = await Promise.all([sending.finally(() => done.abort()), disruption]);
        const seconds = Math.round((performance.now() - startedAt) / 1000);
        const index = service.sightline.index("large");
        const upload = await index.uploads.get(url.split("/").at(-1)!);
        const asset = await waitUntilSettled(index, upload.asset_id!);
        return {
          cuts: plan.cuts,
          restarts: plan.restarts,
          seconds,
          state: asset.state,
          sent_mb: Math.round(network.sentBytes() / MB),
          isIdentical: (await hashDownload(asset.media_url!)) === sha256(bytes),
        };
      } finally {
        await network.close();
        await service.stop();
      }
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Spreads restarts evenly among the cuts. */
function listDisruptions({ cuts, restarts }: DisruptionPlan): ("cut" | "restart")[] {
  const all = cuts + restarts;
  return Array.from({ length: all }, (_, i) =>
    Math.floor(((i + 1) * restarts) / all) > Math.floor((i * restarts) / all) ? "restart" : "cut",
  );
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
}

async function waitUntilSettled(index: SightlineIndex, assetId: string): Promise<Asset> {
  try {
    const [asset] = await index.waitUntilReady(assetId, { timeoutMs: TIMEOUT_MS });
    return asset!;
  } catch (error) {
    if (error instanceof IngestFailedError) return error.asset;
    throw error;
  }
}

async function hashDownload(url: string): Promise<string> {
  const hash = createHash("sha256");
  const { body } = await fetch(url);
  for await (const chunk of body ?? []) hash.update(chunk);
  return hash.digest("hex");
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
