import { env } from "cloudflare:workers";
import { constantFrom, tuple, array, nat, sample } from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "./client.ts";

const ACTS = ["image", "image", "image", "again", "video", "broken", "rename", "retry"] as const;
const ENDS = ["delete", "hurry", "end index"] as const;
type Act = (typeof ACTS)[number] | (typeof ENDS)[number];

let client: Client;
let accountId: string;
let picture: Uint8Array<ArrayBuffer>;
let film: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  client = await newClient();
  accountId = (await client.json("POST", "/init")).account_id;
  picture = new Uint8Array(await (await fixture("words.jpg")).arrayBuffer());
  film = new Uint8Array(await (await fixture("clip.mp4")).arrayBuffer());
});

/** A file of its own for each `mark`, of the same content. */
function marked(bytes: Uint8Array, mark: number, name: string): File {
  return new File([bytes.slice(), new Uint8Array([mark])], name);
}

/** An account's indices, as someone would use them. */
class Use {
  readonly names = ["one", "two"];
  /** That were seen to be ready, those that are deleted included. */
  readonly ready = new Set<string>();
  /** That were deleted before anybody saw. */
  unseen = 0;
  #marks = 0;

  async do(act: Act, at: number): Promise<void> {
    const index = this.names[at % this.names.length]!;
    const asset = await this.#assetOf(index, at);
    const path = asset && `/index/${index}/${asset.asset_type}/${asset.asset_id}`;
    if (act === "image") await this.#add(index, "image", marked(picture, ++this.#marks, "p.jpg"));
    else if (act === "again") await this.#add(index, "image", marked(picture, 1, "p.jpg"));
    else if (act === "video") await this.#add(index, "video", marked(film, at % 2, "f.mp4"));
    else if (act === "broken") await this.#add(index, "image", await fixture("cut.jpg"));
    else if (act === "hurry") {
      const file = marked(picture, ++this.#marks, "h.jpg");
      const { asset_id } = await this.#add(index, "image", file);
      await client.json("DELETE", `/index/${index}/image/${asset_id}`);
      this.unseen++;
    } else if (act === "end index") await this.#replace(index);
    else if (!path) return;
    else if (act === "rename") await client.json("PATCH", path, { json: { title: `${at}` } });
    else if (act === "retry") await client.send("POST", `${path}/retry`);
    else {
      await this.#see(index, asset);
      await client.json("DELETE", path);
    }
  }

  /** Until nothing goes on any more. */
  async settle(): Promise<void> {
    for (const index of this.names) {
      for (const asset of await this.#assetsOf(index)) await this.#see(index, asset);
    }
    const { jobs } = await client.json("GET", "/jobs?limit=100");
    for (const { job_id } of jobs) await client.finished(job_id);
  }

  async #add(index: string, type: "image" | "video", file: File): Promise<Json> {
    return client.json("POST", `/index/${index}/${type}`, { form: { [`${type}_file`]: file } });
  }

  async #see(index: string, asset: Json): Promise<void> {
    const { state } = await client.settled(index, asset);
    if (state === "ready") this.ready.add(asset.asset_id);
  }

  async #replace(index: string): Promise<void> {
    for (const asset of await this.#assetsOf(index)) await this.#see(index, asset);
    await client.json("DELETE", `/index/${index}`);
    await client.json("POST", "/index", { json: { index_name: index } });
  }

  async #assetsOf(index: string): Promise<Json[]> {
    return (await client.json("GET", `/index/${index}?limit=100`)).assets;
  }

  async #assetOf(index: string, at: number): Promise<Json> {
    const assets = await this.#assetsOf(index);
    return assets[at % assets.length];
  }
}

const sum = (all: Json[], of: (one: Json) => number) =>
  all.reduce((total: number, one) => total + (of(one) ?? 0), 0);

/** What the lists of all indices add up to, in the form of `/stats`. */
async function sumOfLists(): Promise<Json> {
  const { indices } = await client.json("GET", "/index?limit=100");
  const lists = await Promise.all(
    indices.map(({ index_name }: Json) => client.json("GET", `/index/${index_name}?limit=100`)),
  );
  const assets: Json[] = lists.flatMap((list) => list.assets);
  for (const { index, assets: own, total } of lists) {
    expect(index).toMatchObject(addUp(own));
    expect(total).toBe(own.length);
  }
  const { counts, ...sums } = addUp(assets);
  return { indices: indices.length, ...counts, ...sums };
}

function addUp(assets: Json[]): Json {
  const count = (...states: string[]) => sum(assets, ({ state }) => Number(states.includes(state)));
  const [queued, ready, failed] = [count("queued"), count("ready"), count("failed")];
  return {
    counts: {
      videos: sum(assets, ({ asset_type }) => Number(asset_type === "video")),
      images: sum(assets, ({ asset_type }) => Number(asset_type === "image")),
      segments: sum(assets, ({ segments }) => segments),
    },
    states: { queued, processing: assets.length - queued - ready - failed, ready, failed },
    duration_seconds: sum(assets, ({ duration_seconds }) => duration_seconds),
    size_bytes: sum(assets, ({ size_bytes }) => size_bytes),
  };
}

/**
 * Likewise, counted from the rows and not from what is kept of them. Segments of an asset that has never been
 * ready don't count.
 */
async function recount(): Promise<Json> {
  return env.DB.prepare(
    `SELECT COUNT(*) FILTER (WHERE asset_type = 'video') AS videos,
       COUNT(*) FILTER (WHERE asset_type = 'image') AS images,
       (SELECT COUNT(*) FROM segments JOIN assets AS a USING (asset_id) JOIN indices AS i ON i.index_id = a.index_id
         WHERE a.account_id = ?1 AND i.deleted_at IS NULL AND a.ready_at IS NOT NULL) AS segments,
       COALESCE(SUM(duration_ms), 0) / 1000.0 AS duration_seconds, COALESCE(SUM(size_bytes), 0) AS size_bytes
     FROM assets JOIN indices USING (index_id) WHERE assets.account_id = ?1 AND indices.deleted_at IS NULL`,
  )
    .bind(accountId)
    .first();
}

const findingsOf = async (index: string): Promise<string[]> =>
  (await client.json("GET", `/index/${index}/traverse?limit=100`)).health.findings.map(
    ({ code }: Json) => code,
  );

describe("whatever an account does, its sums are those of its lists and of its rows", () => {
  const step = tuple(constantFrom<Act[]>(...ACTS, ...ACTS, ...ENDS), nat(1000));
  const use = new Use();

  beforeAll(async () => {
    for (const index_name of use.names) {
      await client.json("POST", "/index", { json: { index_name } });
    }
  });

  it.each([7, 8])("seed %i", { timeout: 120_000 }, async (seed) => {
    const [steps] = sample(array(step, { minLength: 9, maxLength: 9 }), { seed, numRuns: 1 });
    for (const [act, at] of steps!) await use.do(act, at);
    await use.settle();
    const stats = await client.json("GET", "/stats");
    expect(stats).toMatchObject(await sumOfLists());
    expect(stats).toMatchObject(await recount());
    for (const index of use.names) expect(await findingsOf(index)).toEqual([]);
    const { ingested_images } = stats.usage.today;
    const images = [...use.ready].filter((id) => id.startsWith("img")).length;
    expect(ingested_images).toBeGreaterThanOrEqual(images);
    expect(ingested_images).toBeLessThanOrEqual(images + use.unseen);
    expect(stats.usage.today.ingested_seconds).toBeCloseTo(6 * (use.ready.size - images), 3);
    expect(sum(stats.usage.last_30_days, (day) => day.ingested_images)).toBe(ingested_images);
  });

  it("and if they aren't, a walk says so, and repairs it", { timeout: 120_000 }, async () => {
    for (const at of use.names.keys()) await use.do("image", at); // none of them is empty
    await use.settle();
    const before = await client.json("GET", "/stats");
    const damage = [
      "UPDATE tallies SET assets = assets + 1, size_bytes = size_bytes + 5 WHERE account_id = ?",
      "DELETE FROM tallies WHERE account_id = ?",
    ];
    for (const sql of damage) {
      await env.DB.prepare(sql).bind(accountId).run();
      expect((await client.json("GET", "/stats")).size_bytes).not.toBe(before.size_bytes);
      for (const index of use.names) {
        expect(await findingsOf(index)).toContain("counts_wrong");
        const { job_id } = await client.json("POST", `/index/${index}/traverse`);
        const { result } = await client.finished(job_id);
        expect(result.repaired).toMatchObject({ counts_wrong: 1 });
        expect(await findingsOf(index)).toEqual([]);
      }
      const { usage: _, generated_at: __, ...sums } = await client.json("GET", "/stats");
      expect(before).toMatchObject(sums);
    }
  });
});
