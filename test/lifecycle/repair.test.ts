import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { IndexId } from "../../src/ids.ts";
import { FINDINGS, INDEX_FINDINGS } from "../../src/lifecycle/findings.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import {
  runSearches,
  corruptAll,
  createRepairFixture,
  type RepairFixture,
  stallIngest,
} from "../support/repair-fixture.ts";
import { countStored, assetRefOf } from "../support/store-queries.ts";

let client: Client;
let assets: RepairFixture;
let indexId: IndexId;
let before: Json[];
let storedBefore: Record<string, number>;

const DAY = 86_400_000;

/** Moves the clock by two days, so that stored objects are older than the minimum for orphans. */
function advanceTwoDays(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * DAY });
}

beforeAll(async () => {
  client = await newClient();
  assets = await createRepairFixture(client, "lot");
  ({ indexId } = await assetRefOf(assets.clip));
  before = await runSearches(client, "lot");
  storedBefore = await countStored(indexId);
});

afterAll(() => {
  vi.useRealTimers();
});

const traverse = () => client.json("GET", "/index/lot/traverse");

async function repair(): Promise<Json> {
  const { job_id, state } = await client.json("POST", "/index/lot/traverse");
  expect(state).toBe("queued");
  const job = await client.waitForJob(job_id);
  for (const asset of Object.values(assets)) await client.waitForAsset("lot", asset);
  return job;
}

async function findingsOf(asset: Json): Promise<string[]> {
  const { nodes } = await traverse();
  const node = nodes.find((one: Json) => one.asset.asset_id === asset.asset_id);
  return node.health.findings.map(({ code }: Json) => code).toSorted();
}

it("a repair restarts an ingest that is stuck", async () => {
  await stallIngest(assets.clock);
  expect(await findingsOf(assets.clock)).toEqual(["ingest_stuck"]);
  const { result } = await repair();
  expect(result.repaired).toEqual({ ingest_stuck: 1 });
  expect(await findingsOf(assets.clock)).toEqual([]);
  expect(await runSearches(client, "lot")).toEqual(before);
});

describe("an index with every kind of finding", () => {
  it("has search results before the corruption", () => {
    expect(before.every((results) => results.length > 0)).toBe(true);
  });

  it("reports every finding", async () => {
    await corruptAll(assets);
    advanceTwoDays();
    const { nodes, health } = await traverse();
    const found = nodes.flatMap((node: Json) => node.health.findings.map(({ code }: Json) => code));
    // The last one is caused in test/ingest/conversion.test.ts.
    const notCaused = new Set(["ingest_stuck", "source_missing", "working_copy_missing"]);
    const all = FINDINGS.filter((code) => !notCaused.has(code));
    expect(new Set(found)).toEqual(new Set(all));
    expect(health.findings.map(({ code }: Json) => code)).toEqual(INDEX_FINDINGS);
    expect(await findingsOf(assets.rotated)).toEqual([]);
    for (const { message } of health.findings) expect(message).toMatch(/^[A-Z0-9].* .*\.$/);
  });

  it("is repaired completely, and searches return the same results", async () => {
    const { state, error, result } = await repair();
    expect({ state, error }).toEqual({ state: "succeeded", error: null });
    expect(result).toMatchObject({ assets: 6, unrepaired: [], sources: 0 });
    expect(result.repaired).toEqual(result.findings);
    expect(await runSearches(client, "lot")).toEqual(before);
  });

  it("has no findings after the repair, and stores as much as before", async () => {
    const { index, nodes, health } = await traverse();
    expect(nodes.map((node: Json) => node.health)).toEqual(nodes.map(() => HEALTHY));
    expect(health).toEqual(HEALTHY);
    expect(await countStored(indexId)).toEqual(storedBefore);
    expect(index.counts).toMatchObject({ videos: 2, images: 4 });
    expect(index.last_traversed_at).not.toBeNull();
  });

  it("has nothing to repair the second time", async () => {
    const { result } = await repair();
    expect(result).toEqual({ assets: 6, findings: {}, repaired: {}, unrepaired: [], sources: 0 });
    expect(await runSearches(client, "lot")).toEqual(before);
    expect(await countStored(indexId)).not.toHaveProperty("unembedded_speech");
  });
});

const HEALTHY = { ok: true, findings: [] };
