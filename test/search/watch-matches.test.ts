import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { matchAsset } from "../../src/search/watches/match-asset.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { requireWatch, updateWatch } from "../../src/store/d1/watches.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { deliver } from "../support/ingest-helpers.ts";
import { assetRefOf, run } from "../support/store-queries.ts";
import { addTranscribedVideo, submitTranscript } from "../support/transcript-fixtures.ts";
import { payloadOf, signers, WebhookReceiver } from "../support/webhook-receiver.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

const createIndex = (index_name: string) => client.json("POST", "/index", { json: { index_name } });
const create = (index: string, json: object) =>
  client.json("POST", `/index/${index}/watches`, { json: { min_probability: 0.5, ...json } });
const matchesOf = async (index: string, { watch_id }: Json) =>
  (await client.json("GET", `/index/${index}/watches/${watch_id}/matches`)).matches;

async function addImage(index: string, file: string, metadata = {}): Promise<Json> {
  const form = { image_file: await fixture(file), metadata_str: JSON.stringify(metadata) };
  const image = await client.json("POST", `/index/${index}/image`, { form });
  const record = await client.waitForAsset(index, image);
  expect(record.state).toBe("ready");
  await waitForMatching(image);
  return record;
}

/** Waits until an asset was searched for what its index watches. */
async function waitForMatching({ asset_id }: Json): Promise<void> {
  const jobs = "SELECT job_id FROM jobs WHERE asset_id = ? AND kind = 'match_watches'";
  for (const { job_id } of (await run(jobs, asset_id)).results) {
    expect((await client.waitForJob(job_id as string)).state).toBe("succeeded");
  }
}

/** Searches an asset once more. */
async function matchAgain(asset: Json): Promise<void> {
  const { assetId } = await assetRefOf(asset);
  await matchAsset(env, (await getAsset(env.DB, assetId))!, "", async () => {});
}

/** Reads the `watch.matched` events of an asset's index. */
async function readEvents(asset: Json): Promise<Json[]> {
  const { indexId } = await assetRefOf(asset);
  return runInDurableObject(env.MEDIA_INDEX.getByName(indexId), (_, { storage }) => {
    const rows = storage.sql.exec<{ data: string }>(
      "SELECT data FROM events WHERE type = 'watch.matched' ORDER BY seq",
    );
    return [...rows].map(({ data }) => JSON.parse(data));
  });
}

describe("an image with words that a watch is for", () => {
  let words: Json;
  let watch: Json;
  let others: Json[];
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = new WebhookReceiver();
    await createIndex("lanterns");
    watch = await create("lanterns", {
      name: "Lanterns",
      query: "lantern",
      filter: { camera: "A" },
      asset_types: ["image"],
      webhook_url: receiver.url,
    });
    const query = "lantern";
    others = [
      await create("lanterns", { name: "Submarines", query: "submarine" }),
      await create("lanterns", { name: "Paused", query, paused: true }),
      await create("lanterns", { name: "Camera B", query, filter: { camera: "B" } }),
      await create("lanterns", { name: "Videos", query, asset_types: ["video"] }),
      await create("lanterns", { name: "Speech", query, modes: ["speech"] }),
      await create("lanterns", { name: "Excluded", query: "lantern -festival" }),
    ];
    words = await addImage("lanterns", "words.jpg", { camera: "A" });
  });

  it("matches with the score that a search gives it, and its evidence", async () => {
    const [match, ...rest] = await matchesOf("lanterns", watch);
    expect(rest).toEqual([]);
    const json = { query: "lantern", filter: { camera: "A" }, modes: ["image"] };
    const { segments } = await client.json("POST", "/index/lanterns/search", { json });
    const { score, evidence } = segments[0];
    expect(match.score).toBeCloseTo(score, 4);
    expect(match.segment.asset_id).toBe(words.asset_id);
    const rounded = ({ kind, text, score: value }: Json) => [kind, text, value.toFixed(4)];
    expect(match.segment.evidence.map(rounded)).toEqual(evidence.map(rounded));
    const record = await client.json("GET", `/index/lanterns/watches/${watch.watch_id}`);
    expect(record.matches).toBe(1);
  });

  it("doesn't match watches that are paused, or for something else", async () => {
    for (const other of others) expect(await matchesOf("lanterns", other)).toEqual([]);
  });

  it("is announced by an event, and to the webhook of its watch, signed", async () => {
    const [match] = await matchesOf("lanterns", watch);
    const path = `/index/lanterns/watches/${watch.watch_id}`;
    const data = {
      watch_id: watch.watch_id,
      watch_name: "Lanterns",
      asset_id: words.asset_id,
      asset_type: "image",
      title: "words.jpg",
      total: 1,
      matches: [
        {
          segment_id: match.segment.segment_id,
          start_seconds: null,
          end_seconds: null,
          score: match.score,
          evidence: match.segment.evidence,
        },
      ],
      links: {
        asset: `/index/lanterns/image/${words.asset_id}`,
        matches: `${path}/matches`,
      },
    };
    expect(await readEvents(words)).toEqual([data]);
    const [received, ...more] = await receiver.waitForRequests(1);
    expect(more).toEqual([]);
    expect(payloadOf(received!)).toMatchObject({ type: "watch.matched", data });
    const { webhook_secret } = await client.json("GET", path);
    expect(signers(received!, [webhook_secret])).toEqual([webhook_secret]);
  });

  it("matches once, whatever is repeated", async () => {
    const { indexId, assetId } = await assetRefOf(words);
    await matchAgain(words);
    await deliver("sightline-ingest", { indexId, assetId, step: "finish", part: 0 });
    await env.MEDIA_INDEX.getByName(indexId).announceMatches();
    await env.MEDIA_INDEX.getByName(indexId).resume();
    expect(await matchesOf("lanterns", watch)).toHaveLength(1);
    expect(await readEvents(words)).toHaveLength(1);
  });

  it("doesn't match a watch that was created after it was added", async () => {
    const late = await create("lanterns", { name: "Late", query: "lantern" });
    await matchAgain(words);
    expect(await matchesOf("lanterns", late)).toEqual([]);
  });

  it("matches when it is added again as a preview has said", async () => {
    const json = { query: "festival", min_probability: 0.5 };
    const started = await client.json("POST", "/index/lanterns/watches/preview", { json });
    const { result } = await client.waitForJob(started.job_id);
    const created = await create("lanterns", { name: "Festivals", ...json });
    const path = `/index/lanterns/watches/${created.watch_id}/preview`;
    const { job_id } = await client.json("POST", path);
    expect((await client.waitForJob(job_id)).result).toMatchObject({ matches: result.matches });
    await client.json("DELETE", `/index/lanterns/image/${words.asset_id}`);
    await expect.poll(() => matchesOf("lanterns", watch)).toEqual([]); // deleted with its segments
    await addImage("lanterns", "words.jpg", { camera: "A" });
    const matches = await matchesOf("lanterns", created);
    expect(matches).toHaveLength(result.matches);
    expect(matches[0].score).toBeCloseTo(result.best[0].score, 3);
    expect(result).toMatchObject({
      matches: 1,
      matches_by_day: [{ date: words.created_at.slice(0, 10), matches: 1 }],
      nearest_threshold: [{ segment_id: result.best[0].segment_id }],
    });
    expect(result.thresholds.map((each: Json) => each.min_probability)).toEqual([
      0.5, 0.7, 0.8, 0.9, 0.95,
    ]);
  });
});

describe("a copy of an image that a watch is for", () => {
  it("matches by its signature, but another image doesn't", async () => {
    await createIndex("copies");
    const fields = { name: "Our photo", min_probability: 0.2 };
    const form = { image_file: await fixture("boats.jpg"), watch: JSON.stringify(fields) };
    const watch = await client.json("POST", "/index/copies/watches", { form });
    expect(watch).toMatchObject({ has_image: true, query: null });
    const copy = await addImage("copies", "boats-grey.jpg");
    await addImage("copies", "clock.jpg");
    const matches = await matchesOf("copies", watch);
    const query = { form: { image_file: await fixture("boats.jpg") } };
    const { segments } = await client.json("POST", "/index/copies/search_image", query);
    const found = segments.filter(({ score }: Json) => score >= fields.min_probability);
    expect(matches.map(({ segment }: Json) => segment.asset_id)).toEqual([copy.asset_id]);
    expect(found.map(({ asset_id }: Json) => asset_id)).toEqual([copy.asset_id]);
    expect(matches[0].score).toBeCloseTo(found[0].score, 2);
    expect(matches[0].segment.signals.copy_similarity).toBe(found[0].signals.copy_similarity);
  });
});

describe("a transcript that is replaced", () => {
  it("is announced for the segment that it makes match, once", async () => {
    await createIndex("said");
    const watch = await create("said", { name: "Volcanoes", query: "volcano" });
    const goats = await create("said", { name: "Goats", query: "goats" });
    const video = await addTranscribedVideo(client, "said", true);
    await waitForMatching(video);
    expect(await matchesOf("said", watch)).toEqual([]);
    expect(await matchesOf("said", goats)).toHaveLength(1);
    const path = `/index/said/video/${video.asset_id}`;
    const cues = [
      { start: 0, end: 4, text: "This is a volcano." },
      { start: 5, end: 8, text: "The keeper lives here with two goats." },
    ];
    expect((await submitTranscript(client, path, cues)).state).toBe("succeeded");
    await waitForMatching(video);
    const [match] = await matchesOf("said", watch);
    expect(match.segment.start_seconds).toBe(0);
    const json = { query: "volcano" };
    const { segments } = await client.json("POST", "/index/said/search", { json });
    expect(match.score).toBeCloseTo(segments[0].score, 2);
    await submitTranscript(client, path, "00:00:00,000 --> 00:00:04,000\nNothing.");
    expect((await submitTranscript(client, path, cues)).state).toBe("succeeded");
    await waitForMatching(video);
    expect(await matchesOf("said", watch)).toHaveLength(1);
    const events = await readEvents(video);
    expect(events.map(({ watch_name }) => watch_name)).toEqual(["Goats", "Volcanoes"]);
  });

  it("is searched although an earlier search of the video is under way", async () => {
    await createIndex("beside");
    const watch = await create("beside", { name: "Volcanoes", query: "volcano" });
    const video = await addTranscribedVideo(client, "beside", true);
    await waitForMatching(video);
    const reopen = `UPDATE jobs SET state = 'running'
      WHERE asset_id = ? AND kind = 'match_watches'`;
    await run(reopen, video.asset_id);
    const cues = [{ start: 0, end: 4, text: "This is a volcano." }];
    await submitTranscript(client, `/index/beside/video/${video.asset_id}`, cues);
    await expect.poll(() => matchesOf("beside", watch)).toHaveLength(1);
  });
});

describe("a watch whose query is changed", () => {
  it("matches what comes from then on, and its matches stay", async () => {
    await createIndex("changed");
    const watch = await create("changed", { name: "Lanterns", query: "lantern" });
    const words = await addImage("changed", "words.jpg");
    const path = `/index/changed/watches/${watch.watch_id}`;
    await client.json("PATCH", path, { json: { query: "goats" } });
    await matchAgain(words);
    const video = await addTranscribedVideo(client, "changed", true);
    await waitForMatching(video);
    const matches = await matchesOf("changed", watch);
    expect(matches.map(({ segment }: Json) => segment.asset_id)).toEqual([
      video.asset_id,
      words.asset_id,
    ]);
    const json = { query: "goats" };
    const { segments } = await client.json("POST", "/index/changed/search", { json });
    expect(matches[0].score).toBeCloseTo(segments[0].score, 2);
    expect((await readEvents(words)).map(({ asset_id }) => asset_id)).toEqual([
      words.asset_id,
      video.asset_id,
    ]);
  });
});

it("a change of a watch that was changed meanwhile is refused", async () => {
  await createIndex("meanwhile");
  const { watch_id } = await create("meanwhile", { name: "Lanterns", query: "lantern" });
  const words = await addImage("meanwhile", "words.jpg");
  const { indexId } = await assetRefOf(words);
  const stale = await requireWatch(env.DB, indexId, watch_id);
  const path = `/index/meanwhile/watches/${watch_id}`;
  await client.json("PATCH", path, { json: { query: "goats" } });
  const current = await requireWatch(env.DB, indexId, watch_id);
  const request = { ...stale.request, modes: ["speech"] };
  const late = updateWatch(env.DB, stale, { request }, 0);
  await expect(late).rejects.toMatchObject({ code: "conflict" });
  expect(await requireWatch(env.DB, indexId, watch_id)).toEqual(current);
  await updateWatch(env.DB, stale, { paused: true }, current.updatedAt);
  expect((await requireWatch(env.DB, indexId, watch_id)).paused).toBe(1);
});

it("a watch whose example was deleted doesn't match, and holds up no other", async () => {
  await createIndex("gone");
  const clock = await addImage("gone", "clock.jpg");
  const like = await create("gone", { name: "Clocks", similar_to: clock.asset_id });
  const watch = await create("gone", { name: "Lanterns", query: "lantern" });
  await client.json("DELETE", `/index/gone/image/${clock.asset_id}`);
  await addImage("gone", "words.jpg");
  expect(await matchesOf("gone", like)).toEqual([]);
  expect(await matchesOf("gone", watch)).toHaveLength(1);
});
