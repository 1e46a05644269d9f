import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { AssetRecord } from "../scripts/demo/api-client.ts";
import { startBadNetwork } from "./bad-network.ts";
import { makeFilm, makeLarge } from "./large-film.ts";
import { type Started, withRestarts } from "./restarting.ts";
import type { SuiteOptions } from "./suite.ts";
import { sendByTus } from "./tus-upload.ts";

const MB = 1_000_000;
const LOOK_MS = 500;
const GIVE_UP_MS = 5 * 60_000;

export interface Plan {
  megabytes: number;
  /** How often the connection is cut, and the Worker stopped and started, at even distances. */
  cuts: number;
  restarts: number;
}

export interface Resumed {
  sent_mb: number;
  cuts: number;
  restarts: number;
  seconds: number;
  state: string;
  isIdentical: boolean;
}

interface UploadRecord {
  state: string;
  asset_id: string;
}

/** Sends a film by tus-js-client over a network that breaks, to a service that does; reads it back. */
export async function resumeUpload(
  plan: Plan,
  options: Pick<SuiteOptions, "log" | "signal">,
): Promise<Resumed> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-resumed-"));
  try {
    const path = join(folder, "large.mp4");
    await makeLarge(await makeFilm(folder), path, plan.megabytes * MB);
    const bytes = await readFile(path);
    return await withRestarts(options, async (start) => {
      let service = await start();
      const network = await startBadNetwork(Number(new URL(service.url).port));
      const begun = performance.now();
      try {
        await service.api.post("/index", { index_name: "large" });
        const sending = sendByTus(bytes, `${network.origin}/index/large/uploads`, service.key);
        const done = new AbortController();
        const disturbing = (async () => {
          for (const [i, kind] of events(plan).entries()) {
            const share = (i + 1) / (plan.cuts + plan.restarts + 1);
            await Promise.race([network.after(share * bytes.length), ended(done.signal)]);
            if (done.signal.aborted) throw new Error(`It was over before event ${i + 1}.`);
            if (kind === "restart") {
              await service.stop();
              service = await start();
            }
            network.cut();
            options.log(`${kind} at ${Math.round(network.sent() / MB)} MB`);
          }
        })();
        const [url] = await Promise.all([sending.finally(() => done.abort()), disturbing]);
        const seconds = Math.round((performance.now() - begun) / 1000);
        const upload = await service.api.get<UploadRecord>(new URL(url).pathname);
        const asset = await settled(service, upload.asset_id);
        return {
          cuts: plan.cuts,
          restarts: plan.restarts,
          seconds,
          state: asset.state,
          sent_mb: Math.round(network.sent() / MB),
          isIdentical: (await hashOf(asset.media_url)) === sha256(bytes),
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

/** Restarts lie evenly among the cuts. */
function events({ cuts, restarts }: Plan): ("cut" | "restart")[] {
  const all = cuts + restarts;
  return Array.from({ length: all }, (_, i) =>
    Math.floor(((i + 1) * restarts) / all) > Math.floor((i * restarts) / all) ? "restart" : "cut",
  );
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
}

async function settled(
  { api }: Started,
  assetId: string,
): Promise<AssetRecord & { media_url: string }> {
  for (const begun = Date.now(); Date.now() - begun < GIVE_UP_MS; await wait(LOOK_MS)) {
    const asset = await api.get<AssetRecord & { media_url: string }>(
      `/index/large/video/${assetId}`,
    );
    if (["ready", "failed"].includes(asset.state)) return asset;
  }
  throw new Error("The video was never ready.");
}

async function hashOf(url: string): Promise<string> {
  const hash = createHash("sha256");
  const { body } = await fetch(url);
  for await (const chunk of body ?? []) hash.update(chunk);
  return hash.digest("hex");
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
