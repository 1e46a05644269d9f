import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { newAsset } from "../src/care/new-asset.ts";
import { newId } from "../src/ids.ts";
import { insertAsset } from "../src/store/assets.ts";
import { requireIndex } from "../src/store/indices.ts";
import type { Limit } from "../src/store/limits.ts";
import { type Client, fixture, fixtureUrl, type Json, newClient } from "./client.ts";

const AT_ONCE = 20;

let client: Client;
let accountId: string;
let picture: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  client = await newClient();
  accountId = (await client.json("POST", "/init")).account_id;
  picture = new Uint8Array(await (await fixture("words.jpg")).arrayBuffer());
});

async function allow(limits: { [limit in Limit]?: number }, of = accountId) {
  await env.DB.prepare("UPDATE accounts SET limits = ? WHERE account_id = ?")
    .bind(JSON.stringify(limits), of)
    .run();
}

/** Another file each time, of the same picture and length. */
function another(i: number) {
  const bytes = new Uint8Array(picture.length + 1);
  bytes.set(picture);
  bytes[picture.length] = i;
  return { form: { image_file: new File([bytes], `${i}.jpg`) } };
}

async function sendAll(ask: (i: number) => Promise<Response>): Promise<Response[]> {
  return Promise.all(Array.from({ length: AT_ONCE }, (_, i) => ask(i)));
}

const countOf = (answers: Response[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

async function newIndex(name: string) {
  await allow({});
  await client.json("POST", "/index", { json: { index_name: name } });
}

describe(
  "of many that come at once, no more get through than there is room for",
  { timeout: 60_000 },
  () => {
    it("stored_bytes", async () => {
      await newIndex("bytes");
      const before = (await client.json("GET", "/stats")).size_bytes;
      const size = picture.length + 1;
      await allow({ stored_bytes: before + 3 * size });
      const answers = await sendAll((i) => client.send("POST", "/index/bytes/image", another(i)));
      expect([countOf(answers, 200), countOf(answers, 402)]).toEqual([3, AT_ONCE - 3]);
      const { assets, total } = await client.json("GET", "/index/bytes?limit=100");
      expect(total).toBe(3);
      expect((await client.json("GET", "/stats")).size_bytes).toBe(before + 3 * size);
      const { objects } = await env.MEDIA.list({ prefix: `${accountId}/` });
      const stored = new Set(objects.map(({ key }) => key.split("/")[2]));
      expect(stored).toEqual(new Set(assets.map(({ asset_id }: Json) => asset_id)));
    });

    it("stored_bytes, of files that are fetched", async () => {
      const names = ["a", "b", "c", "d"];
      for (const name of names) await newIndex(`fetched-${name}`);
      const before = (await client.json("GET", "/stats")).size_bytes;
      await allow({ stored_bytes: before + 2 * picture.length });
      const url = fixtureUrl("words.jpg");
      const outcomes = await Promise.all(
        names.map(async (name) => {
          const index = `fetched-${name}`;
          const { asset_id } = await client.json("POST", `/index/${index}/image?image_url=${url}`);
          return vi.waitUntil(
            async () => {
              const record = await client.json("GET", `/index/${index}/image/${asset_id}`);
              return record.error?.code ?? (record.size_bytes > 0 && "fetched");
            },
            { timeout: 30_000, interval: 100 },
          );
        }),
      );
      const count = (outcome: string) => outcomes.filter((one) => one === outcome).length;
      expect([count("fetched"), count("account_full")]).toEqual([2, 2]);
      expect((await client.json("GET", "/stats")).size_bytes).toBe(before + 2 * picture.length);
    });

    it("concurrent_ingests", async () => {
      // Of another account, of which nothing is under way; and never begun, so that none is over meanwhile.
      const other = await newClient();
      const { account_id } = await other.json("POST", "/init");
      await other.json("POST", "/index", { json: { index_name: "ingests" } });
      await allow({ concurrent_ingests: 3 }, account_id);
      const index = await requireIndex(env.DB, account_id, "ingests");
      const tries = Array.from({ length: AT_ONCE }, () => {
        const { indexId, accountId } = index;
        const identity = { assetId: newId("img"), indexId, accountId, assetType: "image" } as const;
        const said = { title: "p.jpg", source: { kind: "upload" }, metadata: {} } as const;
        return insertAsset(env.DB, newAsset(identity, index, undefined, said, Date.now()));
      });
      const outcomes = await Promise.allSettled(tries);
      const refusals = outcomes.filter(({ status }) => status === "rejected");
      expect(refusals).toHaveLength(AT_ONCE - 3);
      for (const refusal of refusals) {
        expect(refusal).toMatchObject({ reason: { code: "limit_reached" } });
      }
      const { states } = await other.json("GET", "/stats");
      expect(states.queued).toBe(3);
      const path = `/index/ingests/image?image_url=${fixtureUrl("boats.jpg")}`;
      expect((await other.send("POST", path)).status).toBe(429);
      await env.DB.prepare("DELETE FROM assets WHERE account_id = ? AND state = 'queued'")
        .bind(account_id)
        .run();
      expect((await other.send("POST", path)).status).toBe(200);
    });

    it("ingest_images_per_day", async () => {
      await newIndex("images");
      const { ingested_images } = (await client.json("GET", "/stats")).usage.today;
      const { states } = await client.json("GET", "/stats");
      await allow({
        ingest_images_per_day: ingested_images + states.queued + states.processing + 2,
      });
      const answers = await sendAll((i) => client.send("POST", "/index/images/image", another(i)));
      expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([2, AT_ONCE - 2]);
    });

    it("keys", async () => {
      await allow({ keys: 4 }); // and has one
      const answers = await sendAll((i) =>
        client.send("POST", "/keys", { json: { name: `${i}` } }),
      );
      expect([countOf(answers, 200), countOf(answers, 402)]).toEqual([3, AT_ONCE - 3]);
      expect((await client.json("GET", "/keys")).total).toBe(4);
    });
  },
);
