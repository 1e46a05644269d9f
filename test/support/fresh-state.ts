import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, expect } from "vitest";
import { clearIsolate } from "../../src/isolate-memory.ts";
import { takeWholeReads } from "./query-plans.ts";
import { waitUntil } from "./wait.ts";

// Files share a runtime, which takes longer to start than to empty. Each begins as in a new one:
// with empty stores, and with an isolate that remembers nothing.
await waitUntil(async () => {
  await reset();
  const { objects } = await env.MEDIA.list({ limit: 1 });
  return objects.length === 0; // work of an earlier file may just have stored one
});
clearIsolate();
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);

afterAll(async () => {
  expect(await takeWholeReads(), "statements that read a growing table whole").toEqual([]);
});
