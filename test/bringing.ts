import { env } from "cloudflare:workers";
import { expect, inject, vi } from "vitest";
import type { IndexId } from "../src/ids.ts";
import type { Client, Json } from "./client.ts";
import type { SceneItem } from "./setup/platforms/scene.ts";

/** What names a scene's profile. */
export function profile(scene: string): { url: string } {
  return { url: `${inject("platformsOrigin")}/@${scene}` };
}

/** An index of its own; its id. */
export async function newIndex(client: Client, name: string): Promise<IndexId> {
  await client.json("POST", "/index", { json: { index_name: name } });
  const row = await env.DB.prepare("SELECT index_id FROM indices WHERE name = ? AND account_id = ?")
    .bind(name, (await client.json("POST", "/init")).account_id)
    .first<{ index_id: IndexId }>();
  return row!.index_id;
}

/** An import, come to its end, with what it brought. `path` is that of an index and an endpoint of its. */
export async function bring(client: Client, path: string, json: object): Promise<Json> {
  const begun = await client.json("POST", `/index/${path}`, { json });
  expect(begun).toMatchObject({ state: "queued", source_id: expect.stringMatching(/^src_/) });
  return arrived(client, begun.job_id);
}

/** The job, once all that it brought has come to its end. */
export async function arrived(client: Client, jobId: string): Promise<Json> {
  await client.finished(jobId);
  const isOver = ({ state }: Json) => [null, "ready", "failed"].includes(state);
  return vi.waitUntil(
    async () => {
      const job = await client.json("GET", `/jobs/${jobId}`);
      return job.result.items.every(isOver) && job;
    },
    { timeout: 30_000, interval: 100 },
  );
}

export function picture(id: string, more: Partial<SceneItem> = {}): SceneItem {
  return { id, file: "words.jpg", title: id, ...more };
}

/** Up to four, of bytes of their own. */
export function pictures(...ids: string[]): SceneItem[] {
  const files = ["words.jpg", "clock.jpg", "boats.jpg", "boats-crop.jpg"];
  return ids.map((id, i) => picture(id, { file: files[i]! }));
}
