import {
  createExecutionContext,
  createMessageBatch,
  getQueueResult,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import worker from "../../local/worker.ts";
import type { IndexId } from "../../src/ids.ts";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { type Client, fixture, type Json } from "./client.ts";
import { countStored, OF_ASSET, runInIndex } from "./store-queries.ts";
import { waitUntil } from "./wait.ts";

/** Creates an index with one asset. Returns the asset and the `MediaIndex` object of its ingest. */
export async function startAsset(client: Client, name: string, file = "words.jpg") {
  await client.json("POST", "/index", { json: { index_name: name } });
  const type = /\.(?:mp4|avi)$/.test(file) ? "video" : "image";
  const form = { [`${type}_file`]: await fixture(file) };
  const asset = await client.json("POST", `/index/${name}/${type}`, { form });
  const row = await env.DB.prepare("SELECT index_id FROM assets WHERE asset_id = ?")
    .bind(asset.asset_id)
    .first<{ index_id: IndexId }>();
  const indexId = row!.index_id;
  return { asset, indexId, object: env.MEDIA_INDEX.getByName(indexId) };
}

/** Reads the stored rows, keys and vectors of an asset, to compare before and after. */
export async function readStoredState(asset: Json, indexId: IndexId) {
  const rows = await runInIndex<{ segment_id: string }>(
    { indexId },
    `SELECT segment_id, caption, on_screen_text, labels, boxes FROM segments WHERE ${OF_ASSET}`,
    asset.asset_id,
  );
  const fullTextRows = (await countStored(indexId))["segment_fts_docsize"] ?? 0;
  const { objects } = await env.MEDIA.list({ prefix: "" });
  const keys = objects.map(({ key }) => key).filter((key) => key.includes(asset.asset_id));
  const [id] = rows.map(({ segment_id }) => `${segment_id}:text`);
  const vectors = await vectorPair(env, { vectorPair: 1, indexId }).text.getByIds([id ?? "none"]);
  return { rows, fullTextRows, keys, vectors: vectors.length };
}

/** Delivers one message to the Worker, with other bindings or settings, as the queue would. */
export async function deliver(
  queue: string,
  body: unknown,
  attempts = 1,
  settings: Partial<Env> = {},
) {
  const message = { id: crypto.randomUUID(), timestamp: new Date(), attempts, body };
  const batch = createMessageBatch(queue, [message]);
  const ctx = createExecutionContext();
  await worker.queue(batch, { ...env, ...settings });
  return getQueueResult(batch, ctx);
}

type MediaIndexStub = ReturnType<typeof env.MEDIA_INDEX.getByName>;

/** Sets the ingest state of the object's only asset, with the next alarm in a minute. */
export async function setState(
  object: MediaIndexStub,
  running: { assetType?: "video" | "image"; step: string; parts: object[] },
) {
  const state = { phase: "running", assetType: "image", fanOut: {}, begun: true, ...running };
  await runInDurableObject(object, (_, { storage }) => {
    storage.sql.exec(
      "UPDATE assets SET state = ?, revision = 900, due_at = 0",
      JSON.stringify(state),
    );
    return storage.setAlarm(Date.now() + 60_000);
  });
}

interface PartRow {
  status: string;
  attempts: number;
  dispatches: number;
  dueAt: number;
}

/** Reads the parts of the current step of the object's only asset; none once it has ended. */
export function readParts(object: MediaIndexStub): Promise<PartRow[]> {
  return runInDurableObject(object, (_, { storage }) => {
    const { state } = storage.sql.exec<{ state: string }>("SELECT state FROM assets").one();
    return (JSON.parse(state) as { parts?: PartRow[] }).parts ?? [];
  });
}

export const isDeferred = ({ status, dispatches }: PartRow) =>
  status === "dispatched" && dispatches === 0;

/** Makes the deferred parts of the object's only asset due, and runs its alarm. */
export async function endDeferral(object: MediaIndexStub): Promise<void> {
  await runInDurableObject(object, (_, { storage }) => {
    const { state } = storage.sql.exec<{ state: string }>("SELECT state FROM assets").one();
    const running = JSON.parse(state) as { parts: PartRow[] };
    const parts = running.parts.map((part) => (isDeferred(part) ? { ...part, dueAt: 0 } : part));
    storage.sql.exec(
      "UPDATE assets SET state = ?, due_at = 0",
      JSON.stringify({ ...running, parts }),
    );
  });
  await runDurableObjectAlarm(object);
}

type Ingest = Awaited<ReturnType<typeof startAsset>>;

/** Ends each deferral of an ingest at once. Returns how often a part was deferred. */
export async function runToEnd(
  client: Client,
  name: string,
  { asset, object }: Ingest,
): Promise<number> {
  const path = `/index/${name}/${asset.asset_id.startsWith("vid_") ? "video" : "image"}`;
  let deferrals = 0;
  for (;;) {
    const parts = await waitUntil(async () => {
      const now = await readParts(object);
      return now.every(isDeferred) && now;
    });
    if (parts.length === 0) return deferrals;
    expect(parts.map(({ attempts }) => attempts)).toEqual(parts.map(() => 0));
    const { state, error } = await client.json("GET", `${path}/${asset.asset_id}`);
    expect({ state, error }).toMatchObject({ error: null });
    expect(state).not.toBe("failed");
    deferrals += parts.length;
    await endDeferral(object);
  }
}
