import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Json, newClient } from "../support/client.ts";
import { createUniqueImage, TusClient } from "../support/tus-client.ts";

describe("account limits of uploads", () => {
  let tus: TusClient;
  let accountId: string;

  beforeAll(async () => {
    const client = await newClient();
    accountId = (await client.json("POST", "/init")).account_id;
    await client.json("POST", "/index", { json: { index_name: "a" } });
    tus = new TusClient(client, "a");
  });

  const setLimits = (limits: Record<string, number>) =>
    env.DB.prepare("UPDATE accounts SET limits = ? WHERE account_id = ?")
      .bind(JSON.stringify(limits), accountId)
      .run();

  async function expectLimit(response: Response, status: number, limit: string): Promise<void> {
    expect(response.status).toBe(status);
    const { detail }: Json = await response.json();
    expect(detail).toContain(`limit ${limit} `);
  }

  it("count the announced length of open uploads", async () => {
    await setLimits({ stored_bytes: 1_000_000 });
    await expectLimit(await tus.create({ "upload-length": "1000001" }), 402, "stored_bytes");
    const open = await tus.createUpload(600_000);
    await expectLimit(await tus.create({ "upload-length": "400001" }), 402, "stored_bytes");
    await tus.send("DELETE", open);
    const all = await tus.createUpload(1_000_000);
    await tus.send("DELETE", all);
  });

  it("bound the number of open uploads, concurrent ones included", async () => {
    await setLimits({ open_uploads: 3 });
    const all = await Promise.all(
      Array.from({ length: 8 }, () => tus.create({ "upload-length": "9" })),
    );
    expect(all.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(3);
    await expectLimit(
      all.find(({ status }) => status !== 201)!,
      429,
      "open_uploads",
    );
    for (const location of all.map(({ headers }) => headers.get("location"))) {
      if (location) await tus.send("DELETE", new URL(location).pathname);
    }
  });

  it("leave a received upload waiting until its asset fits", async () => {
    const image = await createUniqueImage();
    await setLimits({ stored_bytes: image.length });
    const path = await tus.createUpload(image.length);
    await setLimits({ stored_bytes: image.length, ingest_images_per_day: 0 });
    await expectLimit(await tus.patch(path, 0, image), 429, "ingest_images_per_day");
    expect(await tus.offset(path)).toBe(image.length);
    expect(await tus.record(path)).toMatchObject({
      state: "received",
      asset_id: null,
      error: { code: "limit_reached" },
    });
    await setLimits({ stored_bytes: image.length });
    expect(await tus.record(path)).toMatchObject({ state: "complete", error: null });
  });
});
