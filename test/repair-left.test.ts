import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import {
  heardPrefix,
  listObjects,
  deleteKeys,
  sourceKey,
  transcriptKey,
} from "../src/store/media.ts";
import { type Client, fixtureUrl, type Json, newClient } from "./client.ts";
import { answersOf, buildLot, type Lot } from "./damage.ts";
import { ownerOf, run } from "./stores.ts";

let client: Client;
let lot: Lot;
let before: Json[];

beforeAll(async () => {
  client = await newClient();
  lot = await buildLot(client, "left");
  before = await answersOf(client, "left");
}, 120_000);

async function repair(): Promise<Json> {
  const { job_id } = await client.json("POST", "/index/left/traverse");
  const { state, result } = await client.finished(job_id);
  expect(state).toBe("succeeded");
  return result;
}

async function fail({ asset_id }: Json, code: string): Promise<void> {
  const error = JSON.stringify({ code, message: "It broke." });
  await run("UPDATE assets SET state = 'failed', error = ? WHERE asset_id = ?", error, asset_id);
}

describe("what a repair can't make good, it tells", () => {
  it("an upload that is gone, and what can't be made without it", async () => {
    const owner = await ownerOf(lot.words);
    const source = await (await env.MEDIA.get(sourceKey(owner)))!.bytes();
    await env.MEDIA.delete([
      sourceKey(owner),
      `${sourceKey(owner).replace("source", "")}keyframes/0.jpg`,
    ]);
    const { repaired, left } = await repair();
    expect(repaired).toEqual({});
    expect(left).toMatchObject([
      {
        asset_id: lot.words.asset_id,
        code: "source_missing",
        message: expect.stringContaining("send it again"),
      },
      { asset_id: lot.words.asset_id, code: "keyframes_missing" },
    ]);
    await env.MEDIA.put(sourceKey(owner), source);
    expect(await repair()).toMatchObject({ repaired: { keyframes_missing: 1 }, left: [] });
    expect(await answersOf(client, "left")).toEqual(before);
  });

  it("a URL that leads to other bytes now: what is stored stays", async () => {
    const owner = await ownerOf(lot.boats);
    const source = await (await env.MEDIA.get(sourceKey(owner)))!.bytes();
    await env.MEDIA.put(sourceKey(owner), source.slice(0, 100));
    const point = (name: string) =>
      run(
        "UPDATE assets SET source = json_set(source, '$.url', ?) WHERE asset_id = ?",
        fixtureUrl(name),
        lot.boats.asset_id,
      );
    await point("boats-mirror.jpg");
    const { left } = await repair();
    expect(left).toMatchObject([
      { code: "source_truncated", message: expect.stringContaining("Other bytes") },
    ]);
    expect((await env.MEDIA.head(sourceKey(owner)))!.size).toBe(100);
    await point("boats.jpg");
    expect(await repair()).toMatchObject({ repaired: { source_truncated: 1 }, left: [] });
    expect(await (await env.MEDIA.get(sourceKey(owner)))!.bytes()).toEqual(source);
  });

  it("a transcript whose times nobody knows any more", async () => {
    const owner = await ownerOf(lot.told);
    const heard = await listObjects(env.MEDIA, heardPrefix(owner));
    await deleteKeys(env.MEDIA, [transcriptKey(owner, null), ...heard.map(({ key }) => key)]);
    const { repaired, left } = await repair();
    expect(repaired).toEqual({ transcript_missing: 1 });
    expect(left).toMatchObject([
      { code: "transcript_missing", message: expect.stringContaining("times") },
    ]);
    const path = `/index/left/video/${lot.told.asset_id}`;
    const { cues } = await client.json("GET", `${path}/transcript`);
    const { segments } = await client.json("GET", `${path}/segments`);
    expect(cues).toEqual(
      segments.map((one: Json) => ({
        start: one.start_seconds,
        end: one.end_seconds,
        text: one.transcript,
      })),
    );
    expect(await repair()).toMatchObject({ findings: {} });
    expect(await answersOf(client, "left")).toEqual(before);
  });

  it("segments that are gone", async () => {
    await run(
      "UPDATE segments SET position = 7 WHERE asset_id = ? AND position = 1",
      lot.clip.asset_id,
    );
    await run("UPDATE assets SET segments = 8 WHERE asset_id = ?", lot.clip.asset_id);
    const { left } = await repair();
    expect(left).toMatchObject([
      { code: "segments_miscounted", message: expect.stringContaining("gone") },
    ]);
    await run(
      "UPDATE segments SET position = 1 WHERE asset_id = ? AND position = 7",
      lot.clip.asset_id,
    );
    expect(await repair()).toMatchObject({ repaired: { segments_miscounted: 1 } });
  });
});

describe("an ingest that has failed", () => {
  it("for good is left as it is", async () => {
    await fail(lot.clock, "unreadable_image");
    const { left } = await repair();
    expect(left).toEqual([
      { asset_id: lot.clock.asset_id, code: "ingest_failed", message: "It broke." },
    ]);
  });

  it("for a cause that may pass is begun again, once", async () => {
    await fail(lot.clock, "upstream_timeout");
    expect((await repair()).repaired).toEqual({ ingest_failed: 1 });
    expect((await client.settled("left", lot.clock)).state).toBe("ready");
    await fail(lot.clock, "upstream_timeout");
    const { left } = await repair();
    expect(left).toMatchObject([
      { code: "ingest_failed", message: expect.stringContaining("failed again") },
    ]);
  });
});
