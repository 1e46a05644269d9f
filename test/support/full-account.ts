import { base64url } from "jose";
import { newId } from "../../src/ids.ts";
import { type Client, fixture, fixtureUrl, newClient } from "./client.ts";
import { assetRefOf, segmentIdsOf } from "./store-queries.ts";
import { waitUntil } from "./wait.ts";

/** Fields of requests that identify a resource of an account. Lists contain one id. */
export const ID_FIELDS = [
  "index_name",
  "index_names",
  "video_id",
  "image_id",
  "job_id",
  "key_id",
  "source_id",
  "upload_id",
  "watch_id",
  "asset_ids",
  "similar_to",
  "segments",
  "segment_id",
  "search_id",
  "more_like",
  "less_like",
  "cursor",
] as const;
export type IdField = (typeof ID_FIELDS)[number];

/** An account with at least one resource of every kind, and their ids by field. */
export interface FullAccount {
  client: Client;
  ids: Record<IdField, string[]>;
}

export async function createFullAccount(): Promise<FullAccount> {
  const client = await newClient();
  const index = "private";
  await client.json("POST", "/index", { json: { index_name: index } });
  const add = async (type: string, name: string) => {
    const form = { [`${type}_file`]: await fixture(name) };
    return client.json("POST", `/index/${index}/${type}`, { form });
  };
  const [image, video] = await Promise.all([add("image", "words.jpg"), add("video", "clip.mp4")]);
  await Promise.all([image, video].map((asset) => client.waitForAsset(index, asset)));
  const watch = { name: "Goats", query: "goats" };
  const { watch_id } = await client.json("POST", `/index/${index}/watches`, { json: watch });
  const [source, key, upload, [segment], { indexId }] = await Promise.all([
    client.json("POST", `/index/${index}/videonet/url`, { json: { url: fixtureUrl("clip.mp4") } }),
    client.json("POST", "/keys", { json: { name: "another" } }),
    client.send("POST", `/index/${index}/uploads`, {
      headers: { "tus-resumable": "1.0.0", "upload-length": "10" },
    }),
    segmentIdsOf(image),
    assetRefOf(image),
  ]);
  const { job_id: searchId } = await client.json("POST", `/index/${index}/search`, {
    json: { query: "lantern", queue_job: true },
  });
  const judgment = { query: "lantern", segment_id: segment, relevant: true };
  const [{ judgment: judged }] = await Promise.all([
    client.json("POST", `/index/${index}/judgments`, { json: judgment }),
    client.waitForJob(searchId),
    client.waitForJob(source.job_id),
  ]);
  await waitUntil(async () => {
    const { states } = (await client.json("GET", `/index/${index}`)).index;
    return states.queued + states.processing === 0; // the imported duplicate is removed
  });
  const ids = {
    index_name: [index],
    index_names: [index],
    video_id: [video.asset_id],
    image_id: [image.asset_id],
    job_id: [source.job_id],
    key_id: [key.key_id],
    source_id: [source.source_id],
    upload_id: [upload.headers.get("location")!.split("/").at(-1)!],
    watch_id: [watch_id],
    asset_ids: [video.asset_id, image.asset_id],
    similar_to: [segment!, image.asset_id],
    segments: [segment!],
    segment_id: [segment!],
    search_id: [searchId],
    more_like: [segment!],
    less_like: [segment!],
    cursor: [
      ...[
        image.asset_id,
        source.job_id,
        key.key_id,
        source.source_id,
        judged.judgment_id,
        indexId,
      ].map((id: string) => base64url.encode(id)),
      `evt_${indexId.slice(4)}_0000000001`,
    ],
  };
  return { client, ids };
}

/** Returns a well-formed id like `id` that doesn't exist. */
export function unknownIdFor(id: string): string {
  if (id.startsWith("evt_")) return id.replace(/_.{26}_/, `_${newId("ind").slice(4)}_`);
  const plain = /^[a-z]{3}_|^private$/.test(id) ? id : Buffer.from(id, "base64url").toString();
  const unknown =
    plain === "private" ? "nothing" : plain.slice(0, -1) + (plain.endsWith("0") ? "1" : "0");
  return plain === id ? unknown : base64url.encode(unknown);
}
