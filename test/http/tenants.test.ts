import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type AccountId, newId } from "../../src/ids.ts";
import { newAsset } from "../../src/lifecycle/create-asset.ts";
import { writeAssetState } from "../../src/store/asset-changes.ts";
import { insertAsset, updateProperties } from "../../src/store/d1/assets.ts";
import { requireIndex } from "../../src/store/d1/indices.ts";
import { captionSegments } from "../support/caption-fixtures.ts";
import { type Client, type Json, newClient } from "../support/client.ts";

const ACCOUNTS = 3;
const INDICES_PER_ACCOUNT = 100;
const NAMES = Array.from({ length: INDICES_PER_ACCOUNT }, (_, i) => `index-${i}`);

interface Tenant {
  client: Client;
  accountId: AccountId;
}

let tenants: Tenant[];

/** Adds a video whose segments have the captions, ready to be searched, without its vectors. */
async function addCaptions({ accountId }: Tenant, name: string, captions: string[]) {
  const now = Date.now();
  const { indexId } = await requireIndex(env.DB, accountId, name);
  const identity = {
    assetId: newId("vid"),
    indexId,
    accountId,
    assetType: "video",
    shard: 0,
    vectorPair: 1,
  } as const;
  const description = { title: name, source: { kind: "upload" }, metadata: {} } as const;
  const asset = newAsset(identity, { name, settings: {} }, undefined, description, now);
  await insertAsset(env.DB, asset);
  await captionSegments(identity, captions);
  await updateProperties(env.DB, identity.assetId, { durationMs: captions.length });
  const ready = { state: "ready", progress: 1, error: null, revision: 1 } as const;
  await writeAssetState(env, identity, ready);
}

async function search({ client }: Tenant, name: string, query: string): Promise<Json[]> {
  const json = { query, modes: ["visual"], collapse: false };
  return (await client.json("POST", `/index/${name}/search`, { json })).segments;
}

beforeAll(async () => {
  tenants = await Promise.all(
    Array.from({ length: ACCOUNTS }, async () => {
      const client = await newClient();
      const { account_id: accountId } = await client.json("POST", "/init");
      for (const index_name of NAMES) {
        await client.json("POST", "/index", { json: { index_name } });
      }
      return { client, accountId };
    }),
  );
  await Promise.all(
    tenants.map(async (tenant, account) => {
      for (const [i, name] of NAMES.entries()) {
        const own = `a kite of account ${account} and number ${i}`;
        await addCaptions(tenant, name, [own, "a kite", "a dog"]);
      }
    }),
  );
});

describe("300 indices of 3 accounts at once", () => {
  it("each find their own segments only", async () => {
    await Promise.all(
      tenants.map(async (tenant, account) => {
        for (const [i, name] of NAMES.entries()) {
          const hits = await search(tenant, name, "kite");
          const captions = new Set(hits.map(({ caption }) => caption));
          expect(captions).toEqual(
            new Set(["a kite", `a kite of account ${account} and number ${i}`]),
          );
        }
      }),
    );
  });

  it("don't change each other's scores", async () => {
    const [tenant] = tenants as [Tenant];
    const before = await search(tenant, "index-7", "kite dog");
    const foreign = Array.from({ length: 500 }, () => "a kite");
    await addCaptions(tenant, "index-8", foreign);
    await addCaptions(tenants[1]!, "index-7", foreign);
    const after = await search(tenant, "index-7", "kite dog");
    expect(after.map(({ score }) => score)).toEqual(before.map(({ score }) => score));
    expect(before.length).toBe(3);
  });
});
