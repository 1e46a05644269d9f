import { env } from "cloudflare:workers";
import { keyframeKey, sourceKey, transcriptKey } from "../../src/store/r2/object-keys.ts";
import { vectorPair, type VectorSpace } from "../../src/store/vectorize/vector-pairs.ts";
import { regionIds, vectorId } from "../../src/store/vectorize/vectors.ts";
import { type Client, fixture, fixtureUrl, type Json } from "./client.ts";
import {
  assetRefOf,
  run,
  segmentIdsOf,
  type AssetRef,
  OF_ASSET,
  runInIndex,
  updateSegments,
} from "./store-queries.ts";

export interface RepairFixture {
  /** A video of text and of a house, with an uploaded transcript. */
  clip: Json;
  /** A video of a house with a voice, whose speech is recognised. */
  speech: Json;
  /** An image with the text LANTERN FESTIVAL. */
  textImage: Json;
  /** A photograph of boats, added by URL. */
  boats: Json;
  /** A drawing of a clock. */
  clock: Json;
  /** A photograph with an EXIF orientation. The tests leave it intact. */
  rotated: Json;
}

const SRT = `1
00:00:00,000 --> 00:00:03,000
Welcome to the lighthouse.

2
00:00:03,000 --> 00:00:06,000
The keeper lives here with two goats.
`;

/** Creates an index with two videos and four images, and waits until all are ready. */
export async function createRepairFixture(client: Client, index: string): Promise<RepairFixture> {
  await client.json("POST", "/index", { json: { index_name: index } });
  const waitUntilReady = async (asset: Json) => {
    const { state, error } = await client.waitForAsset(index, asset);
    if (state !== "ready") throw new Error(JSON.stringify(error));
    return asset;
  };
  const addAsset = async (type: string, form: Record<string, Blob>) =>
    waitUntilReady(await client.json("POST", `/index/${index}/${type}`, { form }));
  const addImage = async (name: string) => addAsset("image", { image_file: await fixture(name) });
  const transcript = new File([SRT], "clip.srt");
  const clip = await addAsset("video", { video_file: await fixture("clip.mp4"), transcript });
  const speech = await addAsset("video", { video_file: await fixture("speech.mp4") });
  const textImage = await addImage("words.jpg");
  const url = encodeURIComponent(fixtureUrl("boats.jpg"));
  const boats = await waitUntilReady(
    await client.json("POST", `/index/${index}/image?image_url=${url}`),
  );
  const clock = await addImage("clock.jpg");
  const rotated = await addImage("rotated.jpg");
  return { clip, speech, textImage, boats, clock, rotated };
}

const QUERIES = [
  "lantern festival",
  "the keeper of the lighthouse and his goats",
  "an old house built by a carpenter",
  "boats on a river",
  "a clock",
];

/** Runs text and image searches. Returns their segments in order, with scores to four digits. */
export async function runSearches(client: Client, index: string): Promise<Json[]> {
  const results: Json[] = [];
  for (const query of QUERIES) {
    const { segments } = await client.json("POST", `/index/${index}/search`, { json: { query } });
    results.push(segments.map(toComparable));
  }
  const form = { image_file: await fixture("boats-crop.jpg") };
  const { segments } = await client.json("POST", `/index/${index}/search_image`, { form });
  return [...results, segments.map(toComparable)];
}

function toComparable({ segment_id, score, signals }: Json) {
  const rounded = Object.entries(signals).map(([name, value]) => [name, roundScore(value)]);
  return { segment_id, score: roundScore(score), signals: Object.fromEntries(rounded) };
}

function roundScore(value: unknown): number {
  return Math.round(Number(value) * 1e4) / 1e4;
}

/**
 * Causes every finding except `ingest_stuck` and `source_missing`. Leaves `rotated` intact.
 */
export async function corruptAll(assets: RepairFixture): Promise<void> {
  const clip = await assetRefOf(assets.clip);
  const narrated = await assetRefOf(assets.speech);
  const boats = await assetRefOf(assets.boats);
  const [first, second] = await segmentIdsOf(assets.clip);
  const [image] = await segmentIdsOf(assets.textImage);
  const [photo] = await segmentIdsOf(assets.boats);
  // objects
  const bytes = await (await env.MEDIA.get(sourceKey(boats)))!.bytes();
  await env.MEDIA.put(sourceKey(boats), bytes.slice(0, 100));
  for (const asset of [clip, boats]) await env.MEDIA.delete(await firstKeyframeKey(asset));
  await env.MEDIA.delete(transcriptKey(narrated, null));
  await createOrphans(clip.accountId, clip.indexId);
  // vectors
  const pair = vectorPair(env, clip);
  await copyVector(pair.text, vectorId(image!, "text"), `${image}:speech`);
  await pair.text.deleteByIds([vectorId(second!, "speech")]);
  await pair.image.deleteByIds([vectorId(first!, "image")]);
  await makeStale(pair.text, vectorId(image!, "text"));
  await makeStale(pair.image, vectorId(photo!, "image"));
  await copyVector(pair.image, vectorId(second!, "image"), regionIds(second!).at(-1)!);
  // rows
  const keyOf = "(SELECT segment_key FROM segments WHERE segment_id = ?)";
  await runInIndex(clip, `DELETE FROM segment_fts WHERE rowid = ${keyOf}`, image!);
  await runInIndex(clip, `DELETE FROM signatures WHERE segment_key = ${keyOf}`, photo!);
  await runInIndex(clip, "UPDATE assets SET title = 'other' WHERE asset_id = ?", boats.assetId);
  await createOrphanSegment(clip, "a lantern");
  const setTranscript = "UPDATE segments SET transcript = 'Nobody said this.' WHERE segment_id = ?";
  await runInIndex(clip, setTranscript, first!);
  await run("UPDATE assets SET segments = 9 WHERE asset_id = ?", assets.textImage.asset_id);
  const failure = JSON.stringify({ code: "upstream_failed", message: "The model was out." });
  await updateSegments(assets.speech, "error = ?", failure);
  await run("UPDATE transcripts SET error = ? WHERE asset_id = ?", failure, narrated.assetId);
  await run(
    "UPDATE assets SET state = 'failed', error = ? WHERE asset_id = ?",
    failure,
    assets.clock.asset_id,
  );
}

const ORPHAN = "vid_01G0NE00000000000000000000";

/** Stores a searchable segment in an index's database of an asset that D1 doesn't have. */
export async function createOrphanSegment(
  index: Pick<AssetRef, "indexId">,
  caption: string,
): Promise<void> {
  await runInIndex(
    index,
    `INSERT INTO assets (asset_id, asset_type, searchable_at) VALUES ('${ORPHAN}', 'video', 0)`,
  );
  await runInIndex(
    index,
    `INSERT INTO segments (segment_id, asset_key, position, keyframe_ms, caption, indexed)
     SELECT 'seg_orphaned', asset_key, 0, 0, ?, 0 FROM assets WHERE asset_id = '${ORPHAN}'`,
    caption,
  );
}

/** Makes an ingest look as if it had made no progress for an hour. */
export async function stallIngest({ asset_id }: Json): Promise<void> {
  const hourAgo = Date.now() - 3_600_000;
  await run(
    "UPDATE assets SET state = 'describing', updated_at = ? WHERE asset_id = ?",
    hourAgo,
    asset_id,
  );
}

/** Stores objects that no asset has: of an upload without a record, and a query clip. */
export async function createOrphans(accountId: string, indexId: string): Promise<void> {
  const keys = [
    `${accountId}/${indexId}/vid_00000000000000000000000000/source`,
    `clips/${indexId}/upl_gone`,
  ];
  for (const key of keys) await env.MEDIA.put(key, "[]");
}

async function firstKeyframeKey(asset: Awaited<ReturnType<typeof assetRefOf>>): Promise<string> {
  const sql = `SELECT keyframe_ms AS ms FROM segments WHERE ${OF_ASSET} ORDER BY position`;
  const [segment] = await runInIndex<{ ms: number }>(asset, sql, asset.assetId);
  return keyframeKey(asset, segment!.ms);
}

/** Replaces a vector by one of another model. */
async function makeStale(index: VectorSpace, id: string): Promise<void> {
  const [vector] = await index.getByIds([id]);
  const { namespace, metadata, values } = vector!;
  const other = Array.from(values).toReversed();
  await index.upsert([
    { id, namespace: namespace!, values: other, metadata: { ...metadata, model: "older" } },
  ]);
}

/** Stores a copy of a vector under an id that shouldn't exist. */
async function copyVector(index: VectorSpace, from: string, id: string): Promise<void> {
  const [vector] = await index.getByIds([from]);
  const { namespace, metadata, values } = vector!;
  await index.upsert([{ id, namespace: namespace!, values, metadata: metadata! }]);
}
