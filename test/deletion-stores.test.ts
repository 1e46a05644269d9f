import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { localImages } from "../local/local-images.ts";
import { purgeAsset } from "../src/care/purge.ts";
import { embed } from "../src/ingest/embed.ts";
import { newId, type SegmentId } from "../src/ids.ts";
import { getAsset } from "../src/store/assets.ts";
import { insertJob } from "../src/store/jobs.ts";
import { assetPrefix, deletePrefix, sourceKey } from "../src/store/media.ts";
import { forgetVectors, pictureIds, textIds } from "../src/store/vectors.ts";
import { type Client, newClient } from "./client.ts";
import { strand } from "./damage.ts";
import { deliver, startAsset } from "./started.ts";
import { holdings, type Owner, ownerOf, run, segmentsOf } from "./stores.ts";

let client: Client;
let name: string;
let owner: Owner;
let segments: SegmentId[];

beforeEach(async () => {
  client = await newClient();
  name = `gone-${crypto.randomUUID()}`;
});

async function add(file: string): Promise<void> {
  const { asset } = await startAsset(client, name, file);
  await client.settled(name, asset);
  owner = await ownerOf(asset);
  segments = await segmentsOf(asset);
}

/** How far a removal got before it was cut off. */
const STOPS: [string, () => Promise<unknown>][] = [
  ["before anything", async () => undefined],
  ["after some vectors", () => env.TEXT_VECTORS.deleteByIds(textIds(segments[0]!))],
  ["after the words' vectors", () => env.TEXT_VECTORS.deleteByIds(segments.flatMap(textIds))],
  ["after all vectors", () => forgetVectors(env, segments)],
  ["after some objects", () => removeObjects(sourceKey(owner))],
  ["after all objects", () => removeObjects(assetPrefix(owner))],
];

async function removeObjects(prefix: string): Promise<void> {
  await forgetVectors(env, segments);
  await deletePrefix(env.MEDIA, prefix);
}

/** The removal's message comes, for the first time or again. */
async function bring(kind: "delete_asset" | "delete_index"): Promise<void> {
  const job = { kind, jobId: newId("job"), ...owner };
  await insertJob(env.DB, job, Date.now());
  expect((await deliver("sightline-jobs", job)).explicitAcks).toHaveLength(1);
  expect(await client.json("GET", `/jobs/${job.jobId}`)).toMatchObject({ state: "succeeded" });
}

describe("nothing is left of a video whose removal was cut off", () => {
  it.each(STOPS)("%s", async (_, stop) => {
    await add("told.mp4");
    expect(await holdings(owner.indexId)).toMatchObject({ segments: 2, stills: 1 });
    await stop();
    await bring("delete_asset");
    expect(await holdings(owner.indexId)).toEqual({ indices: 1 });
    await bring("delete_asset");
    expect(await holdings(owner.indexId)).toEqual({ indices: 1 });
  });

  it("nor when it was begun, and its message lost: the next repair ends it", async () => {
    await add("words.jpg");
    await run("UPDATE assets SET deleted_at = 1 WHERE asset_id = ?", owner.assetId);
    const { job_id } = await client.json("POST", `/index/${name}/traverse`);
    await client.finished(job_id);
    expect(await holdings(owner.indexId)).toEqual({ indices: 1 });
  });
});

describe("nothing is left of an index whose removal was cut off", () => {
  it.each(STOPS)("%s", async (_, stop) => {
    await add("words.jpg");
    await stop();
    await bring("delete_index");
    expect(await holdings(owner.indexId)).toEqual({});
  });

  it("after its only image, nor of what belonged to none", async () => {
    await add("words.jpg");
    const [text] = await env.TEXT_VECTORS.getByIds([`${segments[0]}:text`]);
    const [picture] = await env.PICTURE_VECTORS.getByIds([`${segments[0]}:picture`]);
    const namespace = owner.indexId;
    await env.TEXT_VECTORS.upsert([{ id: "seg_gone:caption", values: text!.values, namespace }]);
    await env.PICTURE_VECTORS.upsert([
      { id: "seg_gone:picture", values: picture!.values, namespace },
    ]);
    await strand(owner.accountId, owner.indexId, owner.assetId);
    await run(
      "INSERT INTO signatures (segment_id, index_id, keys, thumbnail) VALUES ('seg_gone', ?, '[1]', '')",
      owner.indexId,
    );
    await run("INSERT INTO stills VALUES ('vid_gone', 0, 1000, '[]', x'00')");
    await purgeAsset(env, owner, owner.assetId);
    expect(Object.keys(await holdings(namespace))).toContain("sightline-picture");
    await bring("delete_index");
    expect(await holdings(namespace)).toEqual({});
  });
});

it("vectors that are written while an asset is removed go again", async () => {
  await add("words.jpg");
  const asset = await getAsset(env.DB, owner.assetId);
  const removing = Object.create(env.AI, {
    run: {
      value: async (...call: Parameters<Ai["run"]>) => {
        await purgeAsset(env, owner, owner.assetId);
        return env.AI.run(...call);
      },
    },
  }) as Ai;
  await embed({ ...env, IMAGES: localImages(env), AI: removing }, asset!, 0);
  expect(await holdings(owner.indexId)).toEqual({ indices: 1 });
  expect(await env.PICTURE_VECTORS.getByIds(pictureIds(segments[0]!))).toEqual([]);
});
