import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { FINDINGS, INDEX_FINDINGS } from "../src/care/findings.ts";
import { type Client, type Json, newClient } from "./client.ts";
import { answersOf, breakAll, buildLot, isHeard, type Lot, stick } from "./damage.ts";
import { holdings, ownerOf } from "./stores.ts";

let client: Client;
let lot: Lot;
let indexId: string;
let before: Json[];
let held: Record<string, number>;

const DAY = 86_400_000;

/** What is a day old by now was stored a moment ago. */
function later(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * DAY });
}

beforeAll(async () => {
  client = await newClient();
  lot = await buildLot(client, "lot");
  ({ indexId } = await ownerOf(lot.clip));
  before = await answersOf(client, "lot");
  held = await holdings(indexId);
}, 120_000);

afterAll(() => {
  vi.useRealTimers();
});

const walk = () => client.json("GET", "/index/lot/traverse");

async function repair(): Promise<Json> {
  const { job_id, state } = await client.json("POST", "/index/lot/traverse");
  expect(state).toBe("queued");
  const job = await client.finished(job_id);
  for (const asset of Object.values(lot)) await client.settled("lot", asset);
  return job;
}

async function findingsOf(asset: Json): Promise<string[]> {
  const { nodes } = await walk();
  const node = nodes.find((one: Json) => one.asset.asset_id === asset.asset_id);
  return node.health.findings.map(({ code }: Json) => code).toSorted();
}

it("an ingest of which nothing is heard is begun again", async () => {
  await stick(lot.clock);
  expect(await findingsOf(lot.clock)).toEqual(["ingest_stuck"]);
  const { result } = await repair();
  expect(result.repaired).toEqual({ ingest_stuck: 1 });
  expect(await findingsOf(lot.clock)).toEqual([]);
  expect(await answersOf(client, "lot")).toEqual(before);
});

describe("an index in which everything is broken", () => {
  it("has searches that find what they should, at first", () => {
    expect(before.every((results) => results.length > 0)).toBe(true);
  });

  it("shows all of it", async () => {
    await breakAll(lot);
    later();
    const { nodes, health } = await walk();
    const found = nodes.flatMap((node: Json) => node.health.findings.map(({ code }: Json) => code));
    const others = ["ingest_stuck", "source_missing"];
    if (!(await isHeard(lot))) others.push("transcript_missing");
    const all = FINDINGS.filter((code) => !others.includes(code));
    expect(new Set(found)).toEqual(new Set(all));
    expect(health.findings.map(({ code }: Json) => code)).toEqual([...INDEX_FINDINGS]);
    expect(await findingsOf(lot.turned)).toEqual([]);
    for (const { message } of health.findings) expect(message).toMatch(/^[A-Z0-9].* .*\.$/);
  });

  it("can be repaired, and a search finds what it found", async () => {
    const { state, error, result } = await repair();
    expect({ state, error }).toEqual({ state: "succeeded", error: null });
    expect(result).toMatchObject({ assets: 6, left: [], sources: 0 });
    expect(result.repaired).toEqual(result.findings);
    expect(await answersOf(client, "lot")).toEqual(before);
  });

  it("is whole then: there is nothing to find, and nothing else is stored than before", async () => {
    const { index, nodes, health } = await walk();
    expect(nodes.map((node: Json) => node.health)).toEqual(nodes.map(() => WELL));
    expect(health).toEqual(WELL);
    expect(await holdings(indexId)).toEqual(held);
    expect(index.counts).toMatchObject({ videos: 2, images: 4 });
    expect(index.last_traversed_at).not.toBeNull();
  });

  it("has nothing to repair a second time", async () => {
    const { result } = await repair();
    expect(result).toEqual({ assets: 6, findings: {}, repaired: {}, left: [], sources: 0 });
    expect(await answersOf(client, "lot")).toEqual(before);
    expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM unembedded_speech").first("n")).toBe(0);
  });
});

const WELL = { ok: true, findings: [] };
