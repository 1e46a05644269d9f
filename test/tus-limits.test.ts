import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Json, newClient } from "./client.ts";
import { newPicture, TusClient } from "./tus-client.ts";

describe("limits of the account", () => {
  let small: TusClient;
  let accountId: string;

  beforeAll(async () => {
    const own = await newClient();
    accountId = (await own.json("POST", "/init")).account_id;
    await own.json("POST", "/index", { json: { index_name: "a" } });
    small = new TusClient(own, "a");
  });

  const allow = (limits: Record<string, number>) =>
    env.DB.prepare("UPDATE accounts SET limits = ? WHERE account_id = ?")
      .bind(JSON.stringify(limits), accountId)
      .run();

  async function refused(response: Response, status: number, limit: string): Promise<void> {
    expect(response.status).toBe(status);
    const { detail }: Json = await response.json();
    expect(detail).toContain(`limit ${limit} `);
  }

  it("hold for what open uploads say that they will be", async () => {
    await allow({ stored_bytes: 1_000_000 });
    await refused(await small.create({ "upload-length": "1000001" }), 402, "stored_bytes");
    const open = await small.begin(600_000);
    await refused(await small.create({ "upload-length": "400001" }), 402, "stored_bytes");
    await small.send("DELETE", open);
    const all = await small.begin(1_000_000);
    await small.send("DELETE", all);
  });

  it("hold for what is told later", async () => {
    await allow({ stored_bytes: 9000 });
    const created = await small.create({ "upload-defer-length": "1" });
    const own = new URL(created.headers.get("location")!).pathname;
    const picture = await newPicture();
    await refused(await small.patch(own, 0, picture), 402, "stored_bytes");
    const length = { "upload-length": "9001" };
    await refused(await small.patch(own, 0, picture.subarray(0, 9), length), 402, "stored_bytes");
    await small.send("DELETE", own);
  });

  it("hold for how many are open, also at once", async () => {
    await allow({ open_uploads: 3 });
    const all = await Promise.all(
      Array.from({ length: 8 }, () => small.create({ "upload-length": "9" })),
    );
    expect(all.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(3);
    await refused(
      all.find(({ status }) => status !== 201)!,
      429,
      "open_uploads",
    );
    for (const { url_path } of all.map((one) => ({ url_path: one.headers.get("location") }))) {
      if (url_path) await small.send("DELETE", new URL(url_path).pathname);
    }
  });

  it("let an upload that came whole wait, and then be what it fits exactly", async () => {
    const picture = await newPicture();
    await allow({ stored_bytes: picture.length });
    const own = await small.begin(picture.length);
    await allow({ stored_bytes: picture.length, ingest_images_per_day: 0 });
    await refused(await small.patch(own, 0, picture), 429, "ingest_images_per_day");
    expect(await small.offset(own)).toBe(picture.length);
    expect(await small.record(own)).toMatchObject({
      state: "received",
      asset_id: null,
      error: { code: "limit_reached" },
    });
    await allow({ stored_bytes: picture.length });
    expect(await small.record(own)).toMatchObject({ state: "complete", error: null });
  });
});
