import { env } from "cloudflare:workers";
import { expect, inject } from "vitest";
import type { IndexId } from "../../src/ids.ts";
import type { SceneItem } from "../setup/platforms/scene.ts";
import type { Client, Json } from "./client.ts";
import { waitUntil } from "./wait.ts";

/** Makes the fields that request a scene's profile on Mastodon. */
export function profileOf(scene: string): { url: string } {
  return { url: `${inject("platformsOrigin")}/@${scene}` };
}

/** Creates an index, and returns its id. */
export async function createIndex(client: Client, name: string): Promise<IndexId> {
  await client.json("POST", "/index", { json: { index_name: name } });
  const row = await env.DB.prepare("SELECT index_id FROM indices WHERE name = ? AND account_id = ?")
    .bind(name, (await client.json("POST", "/init")).account_id)
    .first<{ index_id: IndexId }>();
  return row!.index_id;
}

/** Runs an import and waits for its assets. `path` is an index's name and one of its endpoints. */
export async function runImport(client: Client, path: string, json: object): Promise<Json> {
  const begun = await client.json("POST", `/index/${path}`, { json });
  expect(begun).toMatchObject({ state: "queued", source_id: expect.stringMatching(/^src_/) });
  return waitForImport(client, begun.job_id);
}

/** Waits until a job and the ingests of its assets have ended, and returns the job. */
export async function waitForImport(client: Client, jobId: string): Promise<Json> {
  await client.waitForJob(jobId);
  const hasEnded = ({ state }: Json) => [null, "ready", "failed"].includes(state);
  return waitUntil(async () => {
    const job = await client.json("GET", `/jobs/${jobId}`);
    return job.result.items.every(hasEnded) && job;
  });
}

export function sceneImage(id: string, fields: Partial<SceneItem> = {}): SceneItem {
  return { id, file: "words.jpg", title: id, ...fields };
}

/** Makes up to four images with different bytes. */
export function sceneImages(...ids: string[]): SceneItem[] {
  const files = ["words.jpg", "clock.jpg", "boats.jpg", "boats-crop.jpg"];
  return ids.map((id, i) => sceneImage(id, { file: files[i]! }));
}
