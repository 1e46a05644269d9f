import { env } from "cloudflare:workers";
import { keyframeKey, sourceKey, transcriptKey } from "../src/store/media.ts";
import { regionIds, vectorId } from "../src/store/vectors.ts";
import { type Client, fixture, fixtureUrl, type Json } from "./client.ts";
import { ownerOf, run, segmentsOf } from "./stores.ts";

export interface Lot {
  /** Words and a house, with a transcript. */
  clip: Json;
  /** A voice over a house, heard. */
  told: Json;
  /** LANTERN FESTIVAL, by upload. */
  words: Json;
  /** Boats on a river, by URL. */
  boats: Json;
  clock: Json;
  turned: Json;
}

const SRT = `1
00:00:00,000 --> 00:00:03,000
Welcome to the lighthouse.

2
00:00:03,000 --> 00:00:06,000
The keeper lives here with two goats.
`;

/** An index with two videos and four images, all ready. */
export async function buildLot(client: Client, index: string): Promise<Lot> {
  await client.json("POST", "/index", { json: { index_name: index } });
  const settled = async (asset: Json) => {
    const { state, error } = await client.settled(index, asset);
    if (state !== "ready") throw new Error(JSON.stringify(error));
    return asset;
  };
  const add = async (type: string, form: Record<string, Blob>) =>
    settled(await client.json("POST", `/index/${index}/${type}`, { form }));
  const image = async (name: string) => add("image", { image_file: await fixture(name) });
  const transcript = new File([SRT], "clip.srt");
  const clip = await add("video", { video_file: await fixture("clip.mp4"), transcript });
  const told = await add("video", { video_file: await fixture("told.mp4") });
  const words = await image("words.jpg");
  const url = encodeURIComponent(fixtureUrl("boats.jpg"));
  const boats = await settled(await client.json("POST", `/index/${index}/image?image_url=${url}`));
  const clock = await image("clock.jpg");
  const turned = await image("turned.jpg");
  return { clip, told, words, boats, clock, turned };
}

const QUERIES = [
  "lantern festival",
  "the keeper of the lighthouse and his goats",
  "an old house built by a carpenter",
  "boats on a river",
  "a clock",
];

/** What searches find: segments in order, with their scores to four digits. */
export async function answersOf(client: Client, index: string): Promise<Json[]> {
  const answers: Json[] = [];
  for (const query of QUERIES) {
    const { segments } = await client.json("POST", `/index/${index}/search`, { json: { query } });
    answers.push(segments.map(shown));
  }
  const form = { image_file: await fixture("boats-crop.jpg") };
  const { segments } = await client.json("POST", `/index/${index}/search_image`, { form });
  return [...answers, segments.map(shown)];
}

function shown({ segment_id, score, signals }: Json) {
  const rounded = Object.entries(signals).map(([name, value]) => [name, digits(value)]);
  return { segment_id, score: digits(score), signals: Object.fromEntries(rounded) };
}

function digits(value: unknown): number {
  return Math.round(Number(value) * 1e4) / 1e4;
}

/** Whether words were heard in `told`: not without a recogniser. */
export async function isHeard({ told }: Lot): Promise<boolean> {
  const count = "SELECT cues FROM transcripts WHERE asset_id = ?";
  return (await env.DB.prepare(count).bind(told.asset_id).first<number>("cues"))! > 0;
}

/** Breaks something of everything that can be found broken, and leaves `turned` alone. */
export async function breakAll(lot: Lot): Promise<void> {
  const clip = await ownerOf(lot.clip);
  const told = await ownerOf(lot.told);
  const boats = await ownerOf(lot.boats);
  const [first, second] = await segmentsOf(lot.clip);
  const [image] = await segmentsOf(lot.words);
  const [photo] = await segmentsOf(lot.boats);
  // objects
  const bytes = await (await env.MEDIA.get(sourceKey(boats)))!.bytes();
  await env.MEDIA.put(sourceKey(boats), bytes.slice(0, 100));
  for (const owner of [clip, boats]) await env.MEDIA.delete(await keyframeOf(owner));
  if (await isHeard(lot)) await env.MEDIA.delete(transcriptKey(told, null));
  await strand(clip.accountId, clip.indexId, clip.assetId);
  // vectors
  await misplace(env.TEXT_VECTORS, vectorId(image!, "text"), `${image}:speech`, "seg_gone:text");
  await env.TEXT_VECTORS.deleteByIds([vectorId(second!, "speech")]);
  await env.PICTURE_VECTORS.deleteByIds([vectorId(first!, "picture")]);
  await falsify(env.TEXT_VECTORS, vectorId(image!, "text"));
  await falsify(env.PICTURE_VECTORS, vectorId(photo!, "picture"));
  await misplace(
    env.PICTURE_VECTORS,
    vectorId(second!, "picture"),
    regionIds(second!).at(-1)!,
    "seg_gone:picture",
  );
  // rows
  const rowOf = "rowid IN (SELECT rowid FROM segments WHERE segment_id = ?)";
  await run(`DELETE FROM segment_words WHERE ${rowOf}`, image);
  await run(`UPDATE segment_words SET caption = 'other words' WHERE ${rowOf}`, photo);
  await run(
    `INSERT INTO segment_words (rowid, caption, transcript, on_screen_text, labels)
     SELECT (rowid << 32) + 900, 'a lantern', '', '', '' FROM indices WHERE index_id = ?`,
    clip.indexId,
  );
  await run("DELETE FROM signatures WHERE segment_id = ?", photo);
  await run(
    "INSERT INTO signatures (segment_id, index_id, keys, thumbnail) VALUES ('seg_gone', ?, '[1]', '')",
    clip.indexId,
  );
  await run("INSERT INTO stills VALUES ('vid_gone', 0, 1000, '[]', x'00')");
  await run("UPDATE segments SET transcript = 'Nobody said this.' WHERE segment_id = ?", first);
  await run("UPDATE assets SET segments = 9 WHERE asset_id = ?", lot.words.asset_id);
  await run("UPDATE tallies SET assets = assets + 3 WHERE index_id = ?", clip.indexId);
  await run(
    "UPDATE assets SET state = 'failed', error = ? WHERE asset_id = ?",
    JSON.stringify({ code: "upstream_failed", message: "The model was out." }),
    lot.clock.asset_id,
  );
}

/** An image of which nothing was heard for an hour. */
export async function stick({ asset_id }: Json): Promise<void> {
  const long = Date.now() - 3_600_000;
  await run(
    "UPDATE assets SET state = 'describing', updated_at = ? WHERE asset_id = ?",
    long,
    asset_id,
  );
}

/** What is left of an ingest, of a replaced transcript, of an upload without a record, and of a query. */
export async function strand(accountId: string, indexId: string, assetId: string): Promise<void> {
  const prefix = `${accountId}/${indexId}`;
  const keys = [
    `${prefix}/${assetId}/seen/0.json`,
    `${prefix}/${assetId}/transcripts/job_gone.json`,
    `${prefix}/vid_00000000000000000000000000/source`,
    `clips/${indexId}/upl_gone`,
  ];
  for (const key of keys) await env.MEDIA.put(key, "[]");
}

async function keyframeOf(owner: Awaited<ReturnType<typeof ownerOf>>): Promise<string> {
  const ms = await env.DB.prepare("SELECT keyframe_ms AS ms FROM segments WHERE asset_id = ?")
    .bind(owner.assetId)
    .first<number>("ms");
  return keyframeKey(owner, ms!);
}

/** Another model's vector in its place. */
async function falsify(space: VectorizeIndex, id: string): Promise<void> {
  const [found] = await space.getByIds([id]);
  const { namespace, metadata, values } = found!;
  const other = Array.from(values).toReversed();
  await space.upsert([
    { id, namespace: namespace!, values: other, metadata: { ...metadata, model: "older" } },
  ]);
}

/** Copies of a vector where there should be none. */
async function misplace(space: VectorizeIndex, from: string, ...ids: string[]): Promise<void> {
  const [found] = await space.getByIds([from]);
  const { namespace, metadata, values } = found!;
  await space.upsert(ids.map((id) => ({ id, namespace: namespace!, values, metadata: metadata! })));
}
