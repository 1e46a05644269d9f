import { base64url } from "jose";
import { vi } from "vitest";
import { newId } from "../src/ids.ts";
import { type Client, fixture, fixtureUrl, newClient } from "./client.ts";
import { ownerOf, segmentsOf } from "./stores.ts";

/** What names something of an account, wherever it stands in the contract. A list holds one. */
export const IDS = [
  "index_name",
  "video_id",
  "image_id",
  "job_id",
  "key_id",
  "source_id",
  "upload_id",
  "asset_ids",
  "similar_to",
  "segments",
  "cursor",
] as const;
export type Id = (typeof IDS)[number];

/** An account with something of everything. */
export interface World {
  client: Client;
  ids: Record<Id, string[]>;
}

export async function newWorld(): Promise<World> {
  const client = await newClient();
  const index = "private";
  await client.json("POST", "/index", { json: { index_name: index } });
  const add = async (type: string, name: string) => {
    const form = { [`${type}_file`]: await fixture(name) };
    return client.json("POST", `/index/${index}/${type}`, { form });
  };
  const [image, video] = await Promise.all([add("image", "words.jpg"), add("video", "clip.mp4")]);
  await Promise.all([image, video].map((asset) => client.settled(index, asset)));
  const [source, key, upload, [segment], { indexId }] = await Promise.all([
    client.json("POST", `/index/${index}/videonet/url`, { json: { url: fixtureUrl("clip.mp4") } }),
    client.json("POST", "/keys", { json: { name: "another" } }),
    client.send("POST", `/index/${index}/uploads`, {
      headers: { "tus-resumable": "1.0.0", "upload-length": "10" },
    }),
    segmentsOf(image),
    ownerOf(image),
  ]);
  await client.finished(source.job_id);
  await vi.waitUntil(
    async () => {
      const { states } = (await client.json("GET", `/index/${index}`)).index;
      return states.queued + states.processing === 0; // the same bytes once more, which give way
    },
    { timeout: 30_000, interval: 100 },
  );
  const ids = {
    index_name: [index],
    video_id: [video.asset_id],
    image_id: [image.asset_id],
    job_id: [source.job_id],
    key_id: [key.key_id],
    source_id: [source.source_id],
    upload_id: [upload.headers.get("location")!.split("/").at(-1)!],
    asset_ids: [video.asset_id, image.asset_id],
    similar_to: [segment!, image.asset_id],
    segments: [segment!],
    cursor: [
      ...[image.asset_id, source.job_id, key.key_id, source.source_id, indexId].map((id: string) =>
        base64url.encode(id),
      ),
      `evt_${indexId.slice(4)}_0000000001`,
    ],
  };
  return { client, ids };
}

/** An id of the same shape that nothing has. */
export function likeness(id: string): string {
  if (id.startsWith("evt_")) return id.replace(/_.{26}_/, `_${newId("ind").slice(4)}_`);
  const plain = /^[a-z]{3}_|^private$/.test(id) ? id : Buffer.from(id, "base64url").toString();
  const made =
    plain === "private" ? "nothing" : plain.slice(0, -1) + (plain.endsWith("0") ? "1" : "0");
  return plain === id ? made : base64url.encode(made);
}
