import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { EVENTS } from "../../src/config.ts";
import { newId } from "../../src/ids.ts";
import { type Client, fixture, newClient } from "../support/client.ts";
import { EventReader, type ReceivedEvent, eventIdOf, isTerminal } from "../support/event-reader.ts";
import { startAsset } from "../support/ingest-helpers.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

const eventIds = (events: ReceivedEvent[]) => events.map(({ id }) => id);

async function addImage(index: string) {
  const form = { image_file: await fixture("words.jpg") };
  return client.json("POST", `/index/${index}/image`, { form });
}

describe("a subscriber of an index", () => {
  it("receives every state of an ingest in order", async () => {
    await client.json("POST", "/index", { json: { index_name: "all" } });
    const reader = await EventReader.open(client, "all");
    const form = { video_file: await fixture("speech.mp4") };
    const asset = await client.json("POST", "/index/all/video", { form });
    const events = await reader.until(isTerminal);
    expect(await client.json("GET", `/index/all/video/${asset.asset_id}`)).toMatchObject({
      state: "ready",
      progress: 1,
    });
    const states = events.flatMap(({ type, data }) =>
      type === "asset.progress" ? [] : data.state,
    );
    expect(states).toEqual([
      "queued",
      "fetching",
      "probing",
      "segmenting",
      "transcribing",
      "describing",
      "embedding",
      "ready",
    ]);
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set(["asset.updated", "asset.progress", "asset.ready"]),
    );
    const progress = events.map(({ data }) => data.progress);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(eventIds(events)).toEqual([...new Set(eventIds(events))].toSorted());
    expect(events[0]!.data).toEqual({
      index_name: "all",
      asset_id: asset.asset_id,
      asset_type: "video",
      state: "queued",
      progress: 0,
      error: null,
      job_id: asset.job_id,
    });
    await reader.close();
  });

  it("receives the error of a failed ingest, and the deletion of an asset", async () => {
    await client.json("POST", "/index", { json: { index_name: "ends" } });
    const reader = await EventReader.open(client, "ends");
    const form = { image_file: await fixture("truncated.jpg") };
    const { asset_id } = await client.json("POST", "/index/ends/image", { form });
    const failed = (await reader.until(isTerminal)).at(-1)!;
    expect(failed).toMatchObject({
      type: "asset.failed",
      data: { asset_id, state: "failed", error: { code: "unreadable_image" } },
    });
    const record = await client.json("GET", `/index/ends/image/${asset_id}`);
    expect(failed.data.progress).toBe(record.progress);
    await client.json("DELETE", `/index/ends/image/${asset_id}`);
    expect(await reader.next()).toMatchObject({
      type: "asset.deleted",
      data: { asset_id, asset_type: "image" },
    });
    await reader.close();
  });

  it("receives the same events as another, and none of other indices", async () => {
    for (const index_name of ["shared", "other"]) {
      await client.json("POST", "/index", { json: { index_name } });
    }
    const readers = await Promise.all(["shared", "shared", "other"].map(openReader));
    await Promise.all([addImage("shared"), addImage("other")]);
    const [first, second, other] = await Promise.all(
      readers.map((reader) => reader.until(isTerminal)),
    );
    expect(first!.length).toBeGreaterThan(5);
    expect(second).toEqual(first);
    expect(other!.every(({ data }) => data.index_name === "other")).toBe(true);
    await Promise.all(readers.map((reader) => reader.close()));
  });
});

describe("a subscriber that reconnects", () => {
  it("receives each event once, wherever its connection ended", async () => {
    await client.json("POST", "/index", { json: { index_name: "back" } });
    const steady = await openReader("back");
    let reconnecting = await openReader("back");
    await addImage("back");
    const events: ReceivedEvent[] = [];
    while (!events.some(isTerminal)) {
      const event = await reconnecting.next();
      events.push(event!);
      await reconnecting.close();
      reconnecting = await EventReader.open(client, "back", event!.id);
    }
    expect(events).toEqual(await steady.until(isTerminal));
    await Promise.all([steady.close(), reconnecting.close()]);
  });

  it("receives each event once after a restart of the object", async () => {
    const { asset, object } = await startAsset(client, "restart");
    const reader = await EventReader.open(client, "restart", await eventIdOf(client, "restart", 0));
    const before = await reader.until(isTerminal);
    const restarted = runInDurableObject(object, (_, state) => state.abort("restarted"));
    await expect(restarted).rejects.toThrow("restarted");
    await expect(reader.next()).rejects.toThrow();
    const second = await EventReader.open(client, "restart", before[1]!.id);
    expect(await second.until(isTerminal)).toEqual(before.slice(2));
    await client.json("DELETE", `/index/restart/image/${asset.asset_id}`);
    expect(await second.next()).toMatchObject({
      type: "asset.deleted",
      id: await eventIdOf(client, "restart", before.length + 1),
    });
    await second.close();
  });

  it.each(["nonsense", "evt_01K9ABCDEFGHJKMNPQRSTVWXYZ_0000000001", ""])(
    "with an unknown event id receives a reset: %j",
    async (lastEventId) => {
      const name = `reset-${lastEventId.length}`;
      await client.json("POST", "/index", { json: { index_name: name } });
      const reader = await EventReader.open(client, name, lastEventId);
      expect(await reader.next()).toMatchObject({ type: "reset", data: { index_name: name } });
      await reader.close();
    },
  );

  it("with the id of a deleted event receives a reset", async () => {
    const { asset, object } = await startAsset(client, "late");
    await client.waitForAsset("late", asset);
    await runInDurableObject(object, (_, { storage }) => {
      storage.sql.exec(
        `WITH RECURSIVE n(seq) AS (SELECT 101 UNION ALL SELECT seq + 1 FROM n WHERE seq < ?)
         INSERT INTO events SELECT seq, 0, 'asset.progress', '{}' FROM n`,
        2 * EVENTS.retainedCount - 1,
      );
    });
    await client.json("DELETE", `/index/late/image/${asset.asset_id}`);
    const early = await EventReader.open(
      client,
      "late",
      await eventIdOf(client, "late", EVENTS.retainedCount - 1),
    );
    const reset = await early.next();
    expect(reset).toMatchObject({
      type: "reset",
      id: await eventIdOf(client, "late", 2 * EVENTS.retainedCount),
    });
    const within = await EventReader.open(
      client,
      "late",
      await eventIdOf(client, "late", EVENTS.retainedCount),
    );
    const events = await within.until(({ type }) => type === "asset.deleted");
    expect(events).toHaveLength(EVENTS.retainedCount);
    await Promise.all([early.close(), within.close()]);
  });
});

describe("the event stream of an index", () => {
  it("takes a limited number of subscribers, and another after one has left", async () => {
    await client.json("POST", "/index", { json: { index_name: "full" } });
    const readers = [];
    for (let i = 0; i < EVENTS.maxSubscribers; i++) readers.push(await openReader("full"));
    const refused = await client.send("GET", "/index/full/events");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await readers.pop()!.close();
    await waitUntil(async () => {
      const response = await client.send("GET", "/index/full/events");
      await response.body?.cancel();
      return response.status === 200;
    });
    await Promise.all(readers.map((reader) => reader.close()));
  });

  it("ends for a subscriber that doesn't read, which gets the rest on reconnecting", async () => {
    const { asset, indexId, object } = await startAsset(client, "slow");
    await client.waitForAsset("slow", asset);
    const slow = await client.send("GET", "/index/slow/events");
    const ids = Array.from({ length: 100 }, () => newId("img"));
    for (let round = 0; round < 2; round++) {
      await Promise.all(ids.map((id) => object.start(indexId, id, "image")));
      await Promise.all(ids.map((id) => object.deleteAsset(id)));
    }
    let last = await eventIdOf(client, "slow", 0);
    const decoder = new TextDecoder();
    const read = async () => {
      for await (const chunk of slow.body!) {
        last = /^id: (.*)$/m.exec(decoder.decode(chunk))?.[1] ?? last;
      }
    };
    await expect(read()).rejects.toThrow();
    const second = await EventReader.open(client, "slow", last);
    await object.deleteAsset(asset.asset_id);
    const events = await second.until(({ data }) => data.asset_id === asset.asset_id);
    expect(events.at(-1)).toMatchObject({ type: "asset.deleted" });
    expect(events.length).toBeGreaterThan(300);
    await second.close();
  });

  it("ends when the index is deleted", async () => {
    await client.json("POST", "/index", { json: { index_name: "gone" } });
    const reader = await openReader("gone");
    const { job_id } = await client.json("DELETE", "/index/gone");
    expect(await reader.next()).toBeNull();
    expect((await client.send("GET", "/index/gone/events")).status).toBe(404);
    await client.waitForJob(job_id);
  });
});

function openReader(index: string): Promise<EventReader> {
  return EventReader.open(client, index);
}
