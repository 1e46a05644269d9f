import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { AuthenticationError, Sightline, type SightlineIndex } from "sightline";
import { openFile } from "sightline/node";
import { poll } from "../../tools/poll.ts";
import type { Deployment } from "./deployment.ts";
import { LATER_TABLE } from "./later-version.ts";
import type { Outside } from "./outside.ts";
import type { Runtime } from "./runtime.ts";

/** Time after which an event that a step waits for never comes. */
const WATCHDOG_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;

/** A deployment that is used through its API, as an account of it does. */
export interface Tenant {
  deployment: Deployment;
  sightline: Sightline;
  /** Value of the API key. */
  key: string;
}

/** What the steps work with. */
export interface Scene {
  runtime: Runtime;
  outside: Outside;
  tenant: Tenant;
  /** Path of a photo. */
  photo: string;
}

/** Takes an asset to `ready` and finds it. Returns what was found. */
async function ingestPhoto(tenant: Tenant, name: string, photo: string): Promise<string> {
  const index = await createIndex(tenant, name);
  const { asset_id } = await index.images.add({ image_file: await openFile(photo) });
  await index.waitUntilReady(asset_id, { timeoutMs: WATCHDOG_MS });
  const { segments } = await index.searchByImage({ image_file: await openFile(photo) });
  if (segments[0]?.asset_id !== asset_id) throw new Error("the photo isn't the first hit");
  return `${segments[0].title}, ${segments[0].score}`;
}

/** A message in a dead-letter queue of an ingest fails its asset. */
export async function deadLetterIngest({ runtime, outside, tenant }: Scene): Promise<string> {
  const index = await createIndex(tenant, "dead-ingest");
  const { asset_id } = await index.images.add({ image_url: outside.hangingUrl() });
  const [row] = query(runtime, tenant, "SELECT index_id AS id FROM assets WHERE asset_id = ?", [
    asset_id,
  ]);
  const message = { indexId: row!["id"], assetId: asset_id, step: "fetch", part: 0 };
  await runtime.send(`${tenant.deployment.worker}-ingest-dead`, message);
  const { error } = await poll(WATCHDOG_MS, "The asset's failure", async () => {
    const asset = await index.images.get(asset_id);
    return asset.state === "failed" ? asset : null;
  });
  outside.endHanging();
  return expect(error?.code, "attempts_exhausted");
}

/** A message in the dead-letter queue of jobs fails its job. */
export async function deadLetterJob({ runtime, outside, tenant }: Scene): Promise<string> {
  const index = await createIndex(tenant, "dead-job");
  const { job_id } = await index.imports.video({ url: outside.hangingUrl() });
  const [row] = query(runtime, tenant, "SELECT message FROM jobs WHERE job_id = ?", [job_id]);
  await runtime.send(`${tenant.deployment.worker}-jobs-dead`, JSON.parse(String(row!["message"])));
  const { error } = await poll(WATCHDOG_MS, "The job's failure", async () => {
    const job = await tenant.sightline.jobs.get(job_id);
    return job.state === "failed" ? job : null;
  });
  outside.endHanging();
  return expect(error?.message, "The job failed too often; ask again.");
}

/** An event reaches the webhook of its index, signed with the index's secret. */
export async function deliverWebhook({ outside, tenant, photo }: Scene): Promise<string> {
  const settings = { webhook_url: outside.webhookUrl };
  const index = await createIndex(tenant, "webhook", settings);
  const [current] = (await index.webhook.get()).secrets;
  const { asset_id } = await index.images.add({ image_file: await openFile(photo) });
  const { headers, body } = await poll(WATCHDOG_MS, "The webhook", async () =>
    outside.deliveries.find((one) => one.body.includes(asset_id) && one.body.includes('"ready"')),
  );
  const signedText = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const key = Buffer.from(current!.secret.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(signedText).digest("base64");
  return expect(headers["webhook-signature"]?.split(" ").includes(`v1,${signature}`), true);
}

/** Each cron trigger runs the sweep, which starts the traversals that are due a day later. */
export async function traverseOnSchedule({ runtime, tenant, photo }: Scene): Promise<string> {
  const { deployment, sightline } = tenant;
  await ingestPhoto(tenant, "scheduled", photo);
  await runtime.runTriggers(deployment.worker, new Date(Date.now() + 1.1 * DAY_MS));
  const job = await poll(WATCHDOG_MS, "The scheduled traversal", async () => {
    const { items } = await sightline.jobs.list({ limit: 100 });
    return items.find(({ kind, index_name: name }) => kind === "traverse" && name === "scheduled");
  });
  const { state } = await sightline.jobs.wait(job.job_id);
  const { last_traversed_at: traversedAt } = await sightline.indices.get("scheduled");
  if (traversedAt === null) throw new Error("last_traversed_at is still null");
  return expect(state, "succeeded");
}

/** An export of one index is imported into another, which finds the same. */
export async function exportAndImport({ tenant, photo }: Scene): Promise<string> {
  await ingestPhoto(tenant, "exported", photo);
  const { sightline } = tenant;
  const archive = await new Response(
    await sightline.index("exported").export({ media: true }),
  ).blob();
  const imported = await createIndex(tenant, "imported");
  const { job_id } = await imported.importArchive(archive);
  const { state, error, result } = await sightline.jobs.wait(job_id);
  if (state !== "succeeded") throw new Error(error?.message ?? state);
  const { segments } = await imported.searchByImage({ image_file: await openFile(photo) });
  if (segments.length === 0) throw new Error(`nothing is found after ${JSON.stringify(result)}`);
  return `${archive.size} bytes, ${segments[0]!.score}`;
}

/** A deleted index leaves no object in R2 and no row in D1. */
export async function deleteIndex({ runtime, tenant, photo }: Scene): Promise<string> {
  await ingestPhoto(tenant, "deleted", photo);
  const [row] = query(runtime, tenant, "SELECT index_id AS id FROM indices WHERE name = ?", [
    "deleted",
  ]);
  const id = String(row!["id"]);
  const objects = async () =>
    (await runtime.listObjects(tenant.deployment.worker)).filter((key) => key.includes(id));
  const before = (await objects()).length;
  if (before === 0) throw new Error("R2 had no object of the index");
  const { job_id } = await tenant.sightline.indices.delete("deleted");
  const { state } = await tenant.sightline.jobs.wait(job_id);
  expect(state, "succeeded");
  expect((await objects()).length, 0);
  for (const table of ["indices", "assets"]) {
    expect(query(runtime, tenant, `SELECT 1 FROM ${table} WHERE index_id = ?`, [id]).length, 0);
  }
  return `${before} objects and all rows are gone`;
}

/** Uploads that run while objects are reset. */
const UPLOADS = 20;
/** Calls of which one resets its object then. A call is made four times at most. */
const RESET_EVERY = 17;

/** Uploads are accepted and become ready though calls of objects reset these again and again. */
export async function uploadDuringResets({ tenant, photo }: Scene): Promise<string> {
  const index = await createIndex(tenant, "resets");
  await tenant.deployment.resetObjects(RESET_EVERY);
  try {
    const bytes = await readFile(photo);
    const uploads = Array.from({ length: UPLOADS }, (_, i) => {
      const image_file = new File([bytes, `${i}`], `${i}.jpg`, { type: "image/jpeg" });
      return index.images.add({ image_file });
    });
    await Promise.all(uploads);
    await poll(WATCHDOG_MS, "The last of the uploads", async () => {
      const { states } = await tenant.sightline.indices.get("resets");
      if (states.failed > 0) throw new Error(`${states.failed} uploads failed`);
      return states.ready === UPLOADS || null;
    });
    return `${UPLOADS} ready`;
  } finally {
    await tenant.deployment.resetObjects(null);
  }
}

/** Another environment of the account has its own keys, indices, objects and queues. */
export async function isolate(scene: Scene, other: Tenant): Promise<string> {
  const { runtime, tenant, photo } = scene;
  const objectsBefore = (await runtime.listObjects(tenant.deployment.worker)).length;
  const stolen = new Sightline({ url: other.deployment.origin, apiKey: tenant.key, maxRetries: 0 });
  try {
    await stolen.indices.list();
    throw new Error("the other environment takes the key");
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
  }
  const name = (await tenant.sightline.indices.list()).items[0]!.index_name;
  await ingestPhoto(other, name, photo);
  const { total } = await other.sightline.indices.list();
  expect(total, 1);
  expect((await runtime.listObjects(tenant.deployment.worker)).length, objectsBefore);
  return `${other.deployment.worker} has its own "${name}"`;
}

/** The console and the documentation are served with the headers of `console/_headers`. */
export async function serveAssets({ tenant }: Scene): Promise<string> {
  const { origin } = tenant.deployment;
  for (const [path, type] of [
    ["/", "text/html"],
    ["/docs", "text/html"],
    ["/openapi.json", "application/json"],
    ["/health", "application/json"],
  ]) {
    const response = await fetch(origin + path);
    await response.arrayBuffer();
    expect(response.status, 200, path);
    expect(response.headers.get("content-type")?.split(";")[0], type, path);
    if (type === "text/html" && !response.headers.has("content-security-policy")) {
      throw new Error(`${path} has no Content-Security-Policy`);
    }
  }
  const missing = await fetch(`${origin}/no-such-path`);
  await missing.arrayBuffer();
  expect(missing.status, 404);
  return "4 pages";
}

/** A key meets its limit of requests a minute, counted in fixed minutes. */
export async function limitRate({ deployment, key }: Tenant, limit: number): Promise<string> {
  const headers = { "X-API-Key": key };
  for (let sent = 1; sent <= 2 * limit + 1; sent++) {
    const response = await fetch(`${deployment.origin}/index`, { headers });
    await response.arrayBuffer();
    if (response.status !== 429) continue;
    if (!response.headers.has("retry-after")) throw new Error("429 without Retry-After");
    if (sent <= limit) throw new Error(`429 at request ${sent} of ${limit}`);
    return `429 at request ${sent}`;
  }
  throw new Error(`no 429 in ${2 * limit + 1} requests`);
}

/** D1 and the databases of the objects have the table of the later version. */
export async function expectLaterSchemas({ runtime, tenant }: Scene): Promise<string> {
  const { worker } = tenant.deployment;
  const find = "SELECT name FROM sqlite_master WHERE name = ?";
  expect(query(runtime, tenant, find, [LATER_TABLE]).length, 1, "tables in D1");
  const isLater = (name: string) =>
    runtime.queryObjects(worker, name, find, LATER_TABLE).some(Boolean);
  const classes = ["IndexDatabase", "MediaIndex", "ModelLimiter"];
  for (const name of classes) {
    if (!isLater(name)) throw new Error(`no ${name} has the later schema`);
  }
  return ["D1", ...classes].join(", ");
}

/**
 * Calls each class of objects: those of an index that an earlier version filled, and of a new one.
 * Nothing of them is lost, or refused.
 */
export async function callObjects(
  { tenant, photo }: Scene,
  filled: string,
  name: string,
): Promise<string> {
  const index = tenant.sightline.index(filled);
  const { segments } = await index.searchByImage({ image_file: await openFile(photo) });
  if (segments.length === 0) throw new Error(`nothing is found in "${filled}"`);
  const { deployment, key } = tenant;
  const path = `/index/${filled}/webhook/deliveries`; // of its MediaIndex
  const response = await fetch(deployment.origin + path, { headers: { "X-API-Key": key } });
  expect(response.status, 200, path);
  return ingestPhoto(tenant, name, photo); // all three classes
}

/** Returns what a search by a photo finds, to compare before and after a deployment. */
export async function searchByPhoto({ tenant, photo }: Scene, name: string): Promise<string> {
  const index = tenant.sightline.index(name);
  const { segments } = await index.searchByImage({ image_file: await openFile(photo) });
  return JSON.stringify(segments.map(({ segment_id: id, score }) => ({ id, score })));
}

async function createIndex(
  { sightline }: Tenant,
  name: string,
  settings: { webhook_url?: string } = {},
): Promise<SightlineIndex> {
  await sightline.indices.create({ index_name: name, settings });
  return sightline.index(name);
}

/** Reads the D1 database of a deployment. */
function query(
  { account }: Runtime,
  { deployment }: Tenant,
  sql: string,
  bindings: string[],
): Record<string, unknown>[] {
  return account.databases
    .get(deployment.worker)!
    .sqlite.prepare(sql)
    .all(...bindings);
}

/** Returns the value as text. Throws if it isn't the expected one. */
function expect(seen: unknown, expected: unknown, what = "seen"): string {
  if (seen === expected) return String(seen);
  throw new Error(`${what}: ${String(seen)}, not ${String(expected)}`);
}
