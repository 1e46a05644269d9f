import { env } from "cloudflare:workers";
import { constantFrom, tuple, array, nat, sample } from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { WATCHDOG_MS } from "../support/watchdog.ts";

const CHANGES = [
  "add image",
  "add image",
  "add image",
  "add duplicate",
  "add video",
  "add broken image",
  "rename",
  "retry",
] as const;
const DELETIONS = ["delete", "delete during ingest", "replace index"] as const;
type Action = (typeof CHANGES)[number] | (typeof DELETIONS)[number];

let client: Client;
let accountId: string;
let image: Uint8Array<ArrayBuffer>;
let video: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  client = await newClient();
  accountId = (await client.json("POST", "/init")).account_id;
  image = new Uint8Array(await (await fixture("words.jpg")).arrayBuffer());
  video = new Uint8Array(await (await fixture("clip.mp4")).arrayBuffer());
});

/** Makes a file with the same content and, for each `mark`, other bytes. */
function marked(bytes: Uint8Array, mark: number, name: string): File {
  return new File([bytes.slice(), new Uint8Array([mark])], name);
}

/** Runs random actions on the indices of an account. */
class AccountActivity {
  readonly names = ["one", "two"];
  /** Ids of assets that became ready, deleted ones included. */
  readonly readyIds = new Set<string>();
  /** Number of assets that were deleted during their ingest, and may have become ready. */
  deletedDuringIngest = 0;
  #marks = 0;

  async run(action: Action, at: number): Promise<void> {
    const index = this.names[at % this.names.length]!;
    const asset = await this.#pickAsset(index, at);
    const path = asset && `/index/${index}/${asset.asset_type}/${asset.asset_id}`;
    if (action === "add image")
      await this.#add(index, "image", marked(image, ++this.#marks, "p.jpg"));
    else if (action === "add duplicate") await this.#add(index, "image", marked(image, 1, "p.jpg"));
    else if (action === "add video")
      await this.#add(index, "video", marked(video, at % 2, "f.mp4"));
    else if (action === "add broken image")
      await this.#add(index, "image", await fixture("truncated.jpg"));
    else if (action === "delete during ingest") {
      const file = marked(image, ++this.#marks, "h.jpg");
      const { asset_id } = await this.#add(index, "image", file);
      await client.json("DELETE", `/index/${index}/image/${asset_id}`);
      this.deletedDuringIngest++;
    } else if (action === "replace index") await this.#replaceIndex(index);
    else if (!path) return;
    else if (action === "rename") await client.json("PATCH", path, { json: { title: `${at}` } });
    else if (action === "retry") await client.send("POST", `${path}/retry`);
    else {
      await this.#waitForIngest(index, asset);
      await client.json("DELETE", path);
    }
  }

  /** Waits until all ingests and jobs have ended. */
  async settle(): Promise<void> {
    for (const index of this.names) {
      for (const asset of await this.#listAssets(index)) await this.#waitForIngest(index, asset);
    }
    const { jobs } = await client.json("GET", "/jobs?limit=100");
    for (const { job_id } of jobs) await client.waitForJob(job_id);
  }

  async #add(index: string, type: "image" | "video", file: File): Promise<Json> {
    return client.json("POST", `/index/${index}/${type}`, { form: { [`${type}_file`]: file } });
  }

  async #waitForIngest(index: string, asset: Json): Promise<void> {
    const { state } = await client.waitForAsset(index, asset);
    if (state === "ready") this.readyIds.add(asset.asset_id);
  }

  async #replaceIndex(index: string): Promise<void> {
    for (const asset of await this.#listAssets(index)) await this.#waitForIngest(index, asset);
    await client.json("DELETE", `/index/${index}`);
    await client.json("POST", "/index", { json: { index_name: index } });
  }

  async #listAssets(index: string): Promise<Json[]> {
    return (await client.json("GET", `/index/${index}?limit=100`)).assets;
  }

  async #pickAsset(index: string, at: number): Promise<Json> {
    const assets = await this.#listAssets(index);
    return assets[at % assets.length];
  }
}

const sum = (records: Json[], valueOf: (record: Json) => number) =>
  records.reduce((total: number, record) => total + (valueOf(record) ?? 0), 0);

/** Adds up the listed assets of all indices, in the form of `/stats`. */
async function sumOfLists(): Promise<Json> {
  const { indices } = await client.json("GET", "/index?limit=100");
  const lists = await Promise.all(
    indices.map(({ index_name }: Json) => client.json("GET", `/index/${index_name}?limit=100`)),
  );
  const assets: Json[] = lists.flatMap((list) => list.assets);
  for (const { index, assets: indexAssets, total } of lists) {
    expect(index).toMatchObject(addUp(indexAssets));
    expect(total).toBe(indexAssets.length);
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

/** Adds up the rows of all indices. Segments of an asset that has never been ready don't count. */
async function sumOfRows(): Promise<Json> {
  return env.DB.prepare(
    `SELECT COUNT(*) FILTER (WHERE asset_type = 'video') AS videos,
       COUNT(*) FILTER (WHERE asset_type = 'image') AS images,
       COALESCE(SUM(duration_ms), 0) / 1000.0 AS duration_seconds,
       COALESCE(SUM(size_bytes), 0) AS size_bytes
     FROM assets JOIN indices USING (index_id)
     WHERE assets.account_id = ?1 AND indices.deleted_at IS NULL`,
  )
    .bind(accountId)
    .first();
}

const listFindings = async (index: string): Promise<string[]> =>
  (await client.json("GET", `/index/${index}/traverse?limit=100`)).health.findings.map(
    ({ code }: Json) => code,
  );

describe("the totals of an account", () => {
  const step = tuple(constantFrom<Action[]>(...CHANGES, ...CHANGES, ...DELETIONS), nat(1000));
  const activity = new AccountActivity();

  beforeAll(async () => {
    for (const index_name of activity.names) {
      await client.json("POST", "/index", { json: { index_name } });
    }
  });

  it.each([7, 8])(
    "equal the sums of its lists and rows after random actions (seed %i)",
    { timeout: WATCHDOG_MS },
    async (seed) => {
      const [steps] = sample(array(step, { minLength: 9, maxLength: 9 }), { seed, numRuns: 1 });
      for (const [action, at] of steps!) await activity.run(action, at);
      await activity.settle();
      const stats = await client.json("GET", "/stats");
      expect(stats).toMatchObject(await sumOfLists());
      expect(stats).toMatchObject(await sumOfRows());
      for (const index of activity.names) expect(await listFindings(index)).toEqual([]);
      const { ingested_images } = stats.usage.today;
      const images = [...activity.readyIds].filter((id) => id.startsWith("img")).length;
      expect(ingested_images).toBeGreaterThanOrEqual(images);
      expect(ingested_images).toBeLessThanOrEqual(images + activity.deletedDuringIngest);
      expect(stats.usage.today.ingested_seconds).toBeCloseTo(
        6 * (activity.readyIds.size - images),
        3,
      );
      expect(sum(stats.usage.last_30_days, (day) => day.ingested_images)).toBe(ingested_images);
    },
  );
});
