import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Limit } from "../../src/store/d1/quotas.ts";
import type { Client, Json } from "./client.ts";
import { TusClient } from "./tus-client.ts";

/** Overrides limits of an account, as an operator would. */
export async function setLimits(client: Client, limits: { [limit in Limit]?: number }) {
  const { account_id } = await client.json("POST", "/init");
  await env.DB.prepare("UPDATE accounts SET limits = ? WHERE account_id = ?")
    .bind(JSON.stringify(limits), account_id)
    .run();
}

/** Sums the objects of an account's assets in R2, in bytes. */
export async function storedBytes(client: Client): Promise<number> {
  const { account_id } = await client.json("POST", "/init");
  const { objects } = await env.MEDIA.list({ prefix: `${account_id}/` });
  return objects.reduce((sum, { size }) => sum + size, 0);
}

/** Expects that an account has room for exactly `bytes` more, by announcing uploads. */
export async function expectFreeBytes(client: Client, index: string, bytes: number): Promise<void> {
  const tus = new TusClient(client, index);
  const announce = (length: number) => tus.create({ "upload-length": String(length) });
  const refused = await announce(bytes + 1);
  expect([refused.status, (await refused.json<Json>()).detail]).toEqual([
    402,
    expect.stringContaining("limit stored_bytes "),
  ]);
  const accepted = await announce(bytes);
  expect(accepted.status).toBe(201);
  await tus.send("DELETE", new URL(accepted.headers.get("location")!).pathname);
}

/** Expects that `stored_bytes` counts all objects of an account's assets, and nothing else. */
export async function expectAllCounted(client: Client, index: string): Promise<void> {
  const room = 10_000;
  await setLimits(client, { stored_bytes: (await storedBytes(client)) + room });
  await expectFreeBytes(client, index, room);
  await setLimits(client, {});
}

/** Limits an account to what it stores and `bytes` more. */
export async function limitFreeBytes(client: Client, bytes: number): Promise<void> {
  await setLimits(client, { stored_bytes: (await storedBytes(client)) + bytes });
}
