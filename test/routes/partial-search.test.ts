import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Client, Json } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import { createSeveralIndices } from "../support/several-indices.ts";
import { assetRefOf } from "../support/store-queries.ts";

let client: Client;
let trip: Json;
let tower: Json;

beforeAll(async () => {
  ({ client, trip, tower } = await createSeveralIndices());
});

const assetIdsOf = ({ segments }: Json) => segments.map(({ asset_id }: Json) => asset_id);

describe("an index whose database", () => {
  /** Bindings in which `call` answers for the database of the asset's index. */
  async function withDatabase(assets: Json[], call: () => Promise<never>): Promise<Partial<Env>> {
    const refs = await Promise.all(assets.map(async (asset) => assetRefOf(asset)));
    const failing = new Set<string>(refs.map(({ indexId }) => indexId));
    const broken = { batch: call, countTerms: call, querySegments: call };
    const namespace = {
      getByName: (name: string) =>
        failing.has(name) ? broken : env.INDEX_DATABASE.getByName(name),
    };
    return { INDEX_DATABASE: namespace as unknown as Env["INDEX_DATABASE"] };
  }
  const outOfReach = () =>
    Promise.reject(Object.assign(new Error("Object is out of reach"), { overloaded: true }));
  const never = () => new Promise<never>(() => {});
  const post = (settings: Partial<Env>, json: object) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(json) };
    return fetchDeployed(settings, client.key, "/search", init);
  };
  const REQUEST = { query: "the keeper's goats", index_names: ["trip", "tower", "empty"] };
  const BUSY = "The database of the index does not answer; try again.";
  const LATE = "The index did not answer within 10 s; try again.";

  it.each([
    ["fails", outOfReach, BUSY],
    ["never answers", never, LATE],
  ])("%s is named, and the others are searched", async (_, call, reason) => {
    const settings = await withDatabase([tower], call);
    const response = await post(settings, REQUEST);
    expect(response.status).toBe(200);
    const result = await response.json<Json>();
    expect(assetIdsOf(result)).toContain(trip.asset_id);
    expect(assetIdsOf(result)).not.toContain(tower.asset_id);
    expect(result.partial).toEqual([{ index_name: "tower", reason }]);
  });

  it("fails, and the only other one as well, is a 503", async () => {
    const settings = await withDatabase([trip, tower], outOfReach);
    const response = await post(settings, { ...REQUEST, index_names: ["trip", "tower"] });
    expect([response.status, await response.json()]).toEqual([503, { detail: BUSY }]);
  });

  it("fails is named beside an answer from the others", async () => {
    const settings = await withDatabase([tower], outOfReach);
    const path = "/answer?query=Who+lives+here+with+two+goats%3F&index_names=*";
    const response = await fetchDeployed(settings, client.key, path);
    const { grounded, citations, partial } = await response.json<Json>();
    expect(grounded).toBe(true);
    expect(citations.map(({ index_name }: Json) => index_name)).toEqual(["trip"]);
    expect(partial).toEqual([{ index_name: "tower", reason: BUSY }]);
    expect((await client.json("GET", path)).partial).toEqual([]);
  });
});

describe("an answer from several indices", () => {
  const QUERY = new URLSearchParams({ query: "Who lives with two goats?" });
  QUERY.append("index_names", "trip");
  QUERY.append("index_names", "tower");
  const PATH = `/answer?${QUERY.toString()}`;

  it("cites moments of each, with the names of the indices", async () => {
    const { grounded, citations, answer, partial } = await client.json("GET", PATH);
    expect(grounded).toBe(true);
    expect(new Set(citations.map(({ index_name }: Json) => index_name))).toEqual(
      new Set(["trip", "tower"]),
    );
    for (const { marker, clip_url } of citations) {
      expect(answer).toContain(`[${marker}]`);
      expect((await client.send("GET", new URL(clip_url).pathname)).status).toBe(200);
    }
    expect(partial).toEqual([]);
  });

  it("that none of them has says so", async () => {
    const query = "query=Who+painted+the+ceiling%3F&index_names=*";
    const { answer, grounded } = await client.json("GET", `/answer?${query}`);
    expect({ answer, grounded }).toEqual({
      answer: "Nothing in these indices answers that.",
      grounded: false,
    });
  });

  it("is the same as a stream of events", async () => {
    const whole = await client.json("GET", PATH);
    const response = await client.send("GET", `${PATH}&stream=true`);
    const events = (await response.text()).trim().split("\n\n");
    const done = events.at(-1)!;
    expect(done).toMatch(/^event: done\ndata: /);
    const record = JSON.parse(done.slice(done.indexOf("data: ") + 6));
    expect(record).toMatchObject({ answer: whole.answer, grounded: true, partial: [] });
  });
});
