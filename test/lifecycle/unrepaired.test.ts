import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import {
  asrPrefix,
  listObjects,
  deleteObjectKeys,
  sourceKey,
  transcriptKey,
} from "../../src/store/r2/object-keys.ts";
import { type Client, fixtureUrl, type Json, newClient } from "../support/client.ts";
import { runSearches, createRepairFixture, type RepairFixture } from "../support/repair-fixture.ts";
import { assetRefOf, run } from "../support/store-queries.ts";

let client: Client;
let assets: RepairFixture;
let before: Json[];

beforeAll(async () => {
  client = await newClient();
  assets = await createRepairFixture(client, "unrepaired");
  before = await runSearches(client, "unrepaired");
});

async function repair(): Promise<Json> {
  const { job_id } = await client.json("POST", "/index/unrepaired/traverse");
  const { state, result } = await client.waitForJob(job_id);
  expect(state).toBe("succeeded");
  return result;
}

async function failIngest({ asset_id }: Json, code: string): Promise<void> {
  const error = JSON.stringify({ code, message: "It broke." });
  await run("UPDATE assets SET state = 'failed', error = ? WHERE asset_id = ?", error, asset_id);
}

describe("a finding stays in `unrepaired`", () => {
  it("if an uploaded source file is missing, and so are keyframes made from it", async () => {
    const image = await assetRefOf(assets.textImage);
    const source = await (await env.MEDIA.get(sourceKey(image)))!.bytes();
    await env.MEDIA.delete([
      sourceKey(image),
      `${sourceKey(image).replace("source", "")}keyframes/0.jpg`,
    ]);
    const { repaired, unrepaired } = await repair();
    expect(repaired).toEqual({});
    expect(unrepaired).toMatchObject([
      {
        asset_id: assets.textImage.asset_id,
        code: "source_missing",
        message: expect.stringContaining("send it again"),
      },
      { asset_id: assets.textImage.asset_id, code: "keyframes_missing" },
    ]);
    await env.MEDIA.put(sourceKey(image), source);
    expect(await repair()).toMatchObject({ repaired: { keyframes_missing: 1 }, unrepaired: [] });
    expect(await runSearches(client, "unrepaired")).toEqual(before);
  });

  it("if a URL serves other bytes now, and the stored file is kept", async () => {
    const image = await assetRefOf(assets.boats);
    const source = await (await env.MEDIA.get(sourceKey(image)))!.bytes();
    await env.MEDIA.put(sourceKey(image), source.slice(0, 100));
    const setUrl = (name: string) =>
      run(
        "UPDATE assets SET source = json_set(source, '$.url', ?) WHERE asset_id = ?",
        fixtureUrl(name),
        assets.boats.asset_id,
      );
    await setUrl("boats-mirror.jpg");
    const { unrepaired } = await repair();
    expect(unrepaired).toMatchObject([
      { code: "source_truncated", message: expect.stringContaining("Other bytes") },
    ]);
    expect((await env.MEDIA.head(sourceKey(image)))!.size).toBe(100);
    await setUrl("boats.jpg");
    expect(await repair()).toMatchObject({ repaired: { source_truncated: 1 }, unrepaired: [] });
    expect(await (await env.MEDIA.get(sourceKey(image)))!.bytes()).toEqual(source);
  });

  it("if a transcript is lost, and so is the recognised speech", async () => {
    const video = await assetRefOf(assets.speech);
    const objects = [transcriptKey(video, null)];
    for (const { key } of await listObjects(env.MEDIA, asrPrefix(video))) objects.push(key);
    const bytes = await Promise.all(
      objects.map(async (key) => (await env.MEDIA.get(key))!.arrayBuffer()),
    );
    await deleteObjectKeys(env.MEDIA, objects);
    const { repaired, unrepaired } = await repair();
    expect(repaired).toEqual({});
    expect(unrepaired).toMatchObject([
      { code: "transcript_missing", message: expect.stringContaining("give it again") },
    ]);
    await Promise.all(objects.slice(1).map((key, i) => env.MEDIA.put(key, bytes[i + 1]!)));
    expect(await repair()).toMatchObject({ repaired: { transcript_missing: 1 }, unrepaired: [] });
    expect(await runSearches(client, "unrepaired")).toEqual(before);
  });
});

describe("a failed ingest", () => {
  it("with a permanent error isn't restarted", async () => {
    await failIngest(assets.clock, "unreadable_image");
    const { unrepaired } = await repair();
    expect(unrepaired).toEqual([
      {
        asset_id: assets.clock.asset_id,
        title: assets.clock.title,
        code: "ingest_failed",
        message: "It broke.",
      },
    ]);
  });

  it("with a transient error is restarted once", async () => {
    await failIngest(assets.clock, "upstream_timeout");
    expect((await repair()).repaired).toEqual({ ingest_failed: 1 });
    expect((await client.waitForAsset("unrepaired", assets.clock)).state).toBe("ready");
    await failIngest(assets.clock, "upstream_timeout");
    const { unrepaired } = await repair();
    expect(unrepaired).toMatchObject([
      { code: "ingest_failed", message: expect.stringContaining("failed again") },
    ]);
  });
});
