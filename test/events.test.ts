import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { EVENTS } from "../src/config.ts";
import { newId } from "../src/ids.ts";
import { type Client, fixture, newClient } from "./client.ts";
import { EventReader, type Heard, isOver } from "./event-reader.ts";
import { startAsset } from "./started.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

const idsOf = (heard: Heard[]) => heard.map(({ id }) => id);

async function addImage(index: string) {
  const form = { image_file: await fixture("words.jpg") };
  return client.json("POST", `/index/${index}/image`, { form });
}

describe("who listens to an index", () => {
  it("hears every state of an ingest, in order, as the record has it", async () => {
    await client.json("POST", "/index", { json: { index_name: "all" } });
    const reader = await EventReader.open(client, "all");
    const form = { video_file: await fixture("told.mp4") };
    const asset = await client.json("POST", "/index/all/video", { form });
    const heard = await reader.until(isOver);
    expect(await client.json("GET", `/index/all/video/${asset.asset_id}`)).toMatchObject({
      state: "ready",
      progress: 1,
    });
    const states = heard.flatMap(({ type, data }) => (type === "asset.updated" ? data.state : []));
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
    expect(new Set(heard.map(({ type }) => type))).toEqual(
      new Set(["asset.updated", "asset.progress"]),
    );
    const progress = heard.map(({ data }) => data.progress);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(idsOf(heard)).toEqual([...new Set(idsOf(heard))].toSorted());
    expect(heard[0]!.data).toEqual({
      index_name: "all",
      asset_id: asset.asset_id,
      asset_type: "video",
      state: "queued",
      progress: 0,
      error: null,
      job_id: asset.job_id,
    });
    await reader.leave();
  });

  it("hears why an ingest failed, and that an asset was deleted", async () => {
    await client.json("POST", "/index", { json: { index_name: "ends" } });
    const reader = await EventReader.open(client, "ends");
    const form = { image_file: await fixture("cut.jpg") };
    const { asset_id } = await client.json("POST", "/index/ends/image", { form });
    const failed = (await reader.until(isOver)).at(-1)!;
    expect(failed).toMatchObject({
      type: "asset.updated",
      data: { asset_id, state: "failed", error: { code: "unreadable_image" } },
    });
    const record = await client.json("GET", `/index/ends/image/${asset_id}`);
    expect(failed.data.progress).toBe(record.progress);
    await client.json("DELETE", `/index/ends/image/${asset_id}`);
    expect(await reader.next()).toMatchObject({
      type: "asset.deleted",
      data: { asset_id, asset_type: "image" },
    });
    await reader.leave();
  });

  it("hears the same as another, and nothing of other indices", async () => {
    for (const index_name of ["shared", "other"]) {
      await client.json("POST", "/index", { json: { index_name } });
    }
    const readers = await Promise.all(["shared", "shared", "other"].map(openReader));
    await Promise.all([addImage("shared"), addImage("other")]);
    const [one, two, other] = await Promise.all(readers.map((reader) => reader.until(isOver)));
    expect(one!.length).toBeGreaterThan(5);
    expect(two).toEqual(one);
    expect(other!.every(({ data }) => data.index_name === "other")).toBe(true);
    await Promise.all(readers.map((reader) => reader.leave()));
  });
});

describe("who comes back", () => {
  it("misses nothing and hears nothing twice, wherever it left", async () => {
    await client.json("POST", "/index", { json: { index_name: "back" } });
    const steady = await openReader("back");
    let leaving = await openReader("back");
    await addImage("back");
    const heard: Heard[] = [];
    while (!heard.some(isOver)) {
      const event = await leaving.next();
      heard.push(event!);
      await leaving.leave();
      leaving = await EventReader.open(client, "back", event!.id);
    }
    expect(heard).toEqual(await steady.until(isOver));
    await Promise.all([steady.leave(), leaving.leave()]);
  });

  it("does so also when the object was restarted", async () => {
    const { asset, object } = await startAsset(client, "restart");
    const reader = await EventReader.open(client, "restart", await idOf("restart", 0));
    const before = await reader.until(isOver);
    const restarted = runInDurableObject(object, (_, state) => state.abort("restarted"));
    await expect(restarted).rejects.toThrow("restarted");
    await expect(reader.next()).rejects.toThrow();
    const again = await EventReader.open(client, "restart", before[1]!.id);
    expect(await again.until(isOver)).toEqual(before.slice(2));
    await client.json("DELETE", `/index/restart/image/${asset.asset_id}`);
    expect(await again.next()).toMatchObject({
      type: "asset.deleted",
      id: await idOf("restart", before.length + 1),
    });
    await again.leave();
  });

  it.each(["nonsense", "evt_01K9ABCDEFGHJKMNPQRSTVWXYZ_0000000001", ""])(
    "from where isn't known is told to begin anew: %j",
    async (lastEventId) => {
      const name = `reset-${lastEventId.length}`;
      await client.json("POST", "/index", { json: { index_name: name } });
      const reader = await EventReader.open(client, name, lastEventId);
      expect(await reader.next()).toMatchObject({ type: "reset", data: { index_name: name } });
      await reader.leave();
    },
  );

  it("too late is told to begin anew: so much is kept, and not more", async () => {
    const { asset, object } = await startAsset(client, "late");
    await client.settled("late", asset);
    await runInDurableObject(object, (_, { storage }) => {
      storage.sql.exec(
        `WITH RECURSIVE n(seq) AS (SELECT 101 UNION ALL SELECT seq + 1 FROM n WHERE seq < ?)
         INSERT INTO events SELECT seq, 0, 'asset.progress', '{}' FROM n`,
        2 * EVENTS.kept - 1,
      );
    });
    await client.json("DELETE", `/index/late/image/${asset.asset_id}`);
    const early = await EventReader.open(client, "late", await idOf("late", EVENTS.kept - 1));
    const reset = await early.next();
    expect(reset).toMatchObject({ type: "reset", id: await idOf("late", 2 * EVENTS.kept) });
    const within = await EventReader.open(client, "late", await idOf("late", EVENTS.kept));
    const heard = await within.until(({ type }) => type === "asset.deleted");
    expect(heard).toHaveLength(EVENTS.kept);
    await Promise.all([early.leave(), within.leave()]);
  });
});

describe("an index", () => {
  it("has so many places, which those who leave make free", async () => {
    await client.json("POST", "/index", { json: { index_name: "crowd" } });
    const readers = [];
    for (let i = 0; i < EVENTS.listeners; i++) readers.push(await openReader("crowd"));
    const refused = await client.send("GET", "/index/crowd/events");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await readers.pop()!.leave();
    await vi.waitUntil(
      async () => {
        const response = await client.send("GET", "/index/crowd/events");
        await response.body?.cancel();
        return response.status === 200;
      },
      { timeout: 10_000 },
    );
    await Promise.all(readers.map((reader) => reader.leave()));
  });

  it("cuts off who doesn't read, and keeps what they miss", async () => {
    const { asset, indexId, object } = await startAsset(client, "slow");
    await client.settled("slow", asset);
    const slow = await client.send("GET", "/index/slow/events");
    const ids = Array.from({ length: 100 }, () => newId("img"));
    for (let round = 0; round < 2; round++) {
      await Promise.all(ids.map((id) => object.start(indexId, id, "image")));
      await Promise.all(ids.map((id) => object.forget(id)));
    }
    let last = await idOf("slow", 0);
    const decoder = new TextDecoder();
    const read = async () => {
      for await (const chunk of slow.body!) {
        last = /^id: (.*)$/m.exec(decoder.decode(chunk))?.[1] ?? last;
      }
    };
    await expect(read()).rejects.toThrow();
    const again = await EventReader.open(client, "slow", last);
    await object.forget(asset.asset_id);
    const heard = await again.until(({ data }) => data.asset_id === asset.asset_id);
    expect(heard.at(-1)).toMatchObject({ type: "asset.deleted" });
    expect(heard.length).toBeGreaterThan(300);
    await again.leave();
  });

  it("that is deleted ends the streams", async () => {
    await client.json("POST", "/index", { json: { index_name: "gone" } });
    const reader = await openReader("gone");
    const { job_id } = await client.json("DELETE", "/index/gone");
    expect(await reader.next()).toBeNull();
    expect((await client.send("GET", "/index/gone/events")).status).toBe(404);
    await client.finished(job_id);
  });
});

function openReader(index: string): Promise<EventReader> {
  return EventReader.open(client, index);
}

/** The id of an index's event number `seq`. */
async function idOf(index: string, seq: number): Promise<string> {
  const response = await client.send("GET", `/index/${index}/events`);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return /^id: (.*_)\d+$/m.exec(value!)![1]! + String(seq).padStart(10, "0");
}
