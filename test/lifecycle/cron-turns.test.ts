import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { JOBS, LIFECYCLE } from "../../src/config.ts";
import { type AccountId, type IndexId, newId } from "../../src/ids.ts";
import { sweep } from "../../src/lifecycle/sweep.ts";
import { listUnmirroredAssets } from "../../src/store/asset-changes.ts";
import { listUndispatchedAssets, listWaitingIndices } from "../../src/store/d1/assets.ts";
import { listSoftDeletedIndices, listIndicesDue, recordTurns } from "../../src/store/d1/indices.ts";
import { pruneJobs, redispatchOverdueJobs } from "../../src/store/d1/jobs.ts";
import { listExpiredUploads, listReceivedUploads } from "../../src/store/d1/uploads.ts";
import { newClient } from "../support/client.ts";
import { run } from "../support/store-queries.ts";

const DAY_MS = 24 * 3600_000;
const LARGE_COUNT = 1000;

interface Tenant {
  accountId: AccountId;
  indexId: IndexId;
}

/** Makes an account with `count` indices, which are due from `dueAt` on. */
async function createTenant(count: number, dueAt: number): Promise<Tenant> {
  const { account_id } = await (await newClient()).json("POST", "/init");
  const ids = Array.from({ length: count }, () => newId("ind"));
  await run(
    `INSERT INTO indices (index_id, account_id, name, created_at, updated_at, text_model)
     SELECT value, ?1, value, ?2, ?2, (SELECT text_model FROM indices WHERE text_model > '' LIMIT 1)
     FROM json_each(?3)`,
    account_id,
    dueAt - DAY_MS,
    JSON.stringify(ids),
  );
  return { accountId: account_id, indexId: ids[0]! };
}

const now = Date.now();
let large: Tenant;
let small: Tenant;

beforeEach(async () => {
  for (const table of ["jobs", "uploads", "shards", "assets", "tallies", "indices"]) {
    await run(`DELETE FROM ${table}`);
  }
  large = await createTenant(LARGE_COUNT, now - DAY_MS);
  small = await createTenant(1, now - 1000);
});

describe("an index that is due waits for no other account's", () => {
  it("if that has a thousand that are due longer", async () => {
    const due = await listIndicesDue(env.DB, now, LIFECYCLE.traversalsPerTick);
    expect(due).toHaveLength(LIFECYCLE.traversalsPerTick);
    expect(due.map(({ indexId }) => indexId)).toContain(small.indexId);
  });

  it("longer than a tick, if more accounts than fit have theirs", async () => {
    for (let i = 0; i < LIFECYCLE.traversalsPerTick; i++) await createTenant(50, now - DAY_MS);
    const turns = new Map<AccountId, number>();
    for (let tick = 0; tick < 2; tick++) {
      const due = await listIndicesDue(env.DB, now, LIFECYCLE.traversalsPerTick);
      for (const { accountId, indexId } of due) {
        turns.set(accountId, tick);
        await run("UPDATE indices SET last_traversed_at = ? WHERE index_id = ?", now, indexId);
      }
      await recordTurns(
        env.DB,
        due.map(({ accountId }) => accountId),
        now + tick,
      );
    }
    expect(turns.size).toBe(LIFECYCLE.traversalsPerTick + 2);
    expect(turns.get(small.accountId)).toBeLessThan(2);
  });

  it("and the sweep starts its traversal", async () => {
    await sweep(env, now);
    const { results } = await env.DB.prepare(
      "SELECT index_id FROM jobs WHERE kind = 'traverse' AND account_id = ?",
    )
      .bind(small.accountId)
      .all();
    expect(results).toEqual([{ index_id: small.indexId }]);
  });
});

it("an account without room for records isn't traversed on schedule", async () => {
  await run(
    "UPDATE accounts SET limits = '{\"record_bytes\": 1}' WHERE account_id = ?",
    small.accountId,
  );
  const due = await listIndicesDue(env.DB, now, LIFECYCLE.traversalsPerTick);
  expect(due.map(({ indexId }) => indexId)).not.toContain(small.indexId);
});

/** Inserts rows of which the large tenant has a thousand, and the small one one that is newer. */
async function insertRows(insert: (tenant: Tenant, count: number, at: number) => Promise<unknown>) {
  await insert(large, LARGE_COUNT, now - 2 * DAY_MS);
  await insert(small, 1, now - DAY_MS);
}

const numbers = (count: number) => JSON.stringify(Array.from({ length: count }, (_, i) => i));

const insertAssets = (columns: Record<string, string | number>) =>
  insertRows(async ({ accountId, indexId }, count, at) => {
    const names = Object.keys(columns);
    await run(
      `INSERT INTO assets (asset_id, index_id, shard, account_id, asset_type, title, source, job_id,
         created_at, updated_at, ${names.join(", ")})
       SELECT ?1 || value, ?2, 0, ?1, 'image', 't', '{}', 'j', ?3, ?3,
         ${names.map((_, i) => `?${i + 5}`).join(", ")} FROM json_each(?4)`,
      accountId,
      indexId,
      at,
      numbers(count),
      ...Object.values(columns),
    );
  });

const insertUploads = (received: boolean) =>
  insertRows(async ({ accountId, indexId }, count, at) =>
    run(
      `INSERT INTO uploads (upload_id, account_id, index_id, metadata, upload_metadata, sha256,
         created_at, updated_at, expires_at)
       SELECT ?1 || value, ?1, ?2, '{}', '', ?5, ?3, ?3, ?3 FROM json_each(?4)`,
      accountId,
      indexId,
      at,
      numbers(count),
      received ? "00" : null,
    ),
  );

const BATCH = 50;
type Query = [title: string, insert: () => Promise<unknown>, list: () => Promise<unknown[]>];

const QUERIES: Query[] = [
  [
    "assets that no object has started",
    () => insertAssets({ state: "queued" }),
    () => listUndispatchedAssets(env.DB, now, BATCH),
  ],
  [
    "changes that an index database lacks",
    () => insertAssets({ state: "ready", facts_revision: 1 }),
    () => listUnmirroredAssets(env.DB, now, BATCH),
  ],
  ["received uploads", () => insertUploads(true), () => listReceivedUploads(env.DB, now, BATCH)],
  [
    "expired uploads",
    () => insertUploads(false),
    () => listExpiredUploads(env.DB, now, now, BATCH),
  ],
  [
    "deleted indices",
    () => run("UPDATE indices SET deleted_at = 1"),
    () => listSoftDeletedIndices(env.DB, now, BATCH),
  ],
  [
    "overdue jobs",
    () =>
      insertRows(async ({ accountId, indexId }, count, at) =>
        run(
          `INSERT INTO jobs (job_id, account_id, index_id, kind, state, message, due_at, created_at,
             updated_at)
           SELECT ?1 || value, ?1, ?2, 'search', 'queued', json_object('accountId', ?1), ?3, ?3, ?3
           FROM json_each(?4)`,
          accountId,
          indexId,
          at,
          numbers(count),
        ),
      ),
    () => redispatchOverdueJobs(env.DB, now, BATCH),
  ],
];

it.each(QUERIES)("the sweep takes each account's %s in turn", async (_, insert, list) => {
  await insert();
  const rows = await list();
  expect(rows).toHaveLength(BATCH);
  expect(JSON.stringify(rows)).toMatch(new RegExp(`${small.indexId}|${small.accountId}`));
});

it("the sweep resumes each account's waiting indices in turn", async () => {
  await run(
    `INSERT INTO assets (asset_id, index_id, shard, account_id, asset_type, title, source, job_id,
       created_at, updated_at, state)
     SELECT 'vid' || index_id, index_id, 0, account_id, 'video', 't', '{}', 'j', 0, 0, 'probing'
     FROM indices`,
  );
  expect(await listWaitingIndices(env.DB, now, BATCH)).toContain(small.indexId);
});

it("a job that can't be deleted doesn't hold up older ones' successors", async () => {
  await insertAssets({ state: "failed" });
  await run(
    `INSERT INTO jobs (job_id, account_id, index_id, asset_id, kind, state, created_at, updated_at,
       retained_at)
     SELECT 'job' || asset_id, account_id, index_id, asset_id, 'ingest', 'failed', 0, 0, 0
     FROM assets`,
  );
  await run("UPDATE assets SET job_id = 'job' || asset_id");
  await run(
    `INSERT INTO jobs (job_id, account_id, index_id, kind, state, created_at, updated_at,
       retained_at) VALUES ('last', ?, ?, 'search', 'failed', 1, 1, 1)`,
    small.accountId,
    small.indexId,
  );
  const later = now + JOBS.retentionMs;
  for (let i = 0; i < 12; i++) await pruneJobs(env.DB, later, { jobs: 100, jobItems: 100 });
  const left = await env.DB.prepare("SELECT COUNT(*) AS n FROM jobs").first("n");
  expect(left).toBe(LARGE_COUNT + 1); // the failed ingests
  expect(await env.DB.prepare("SELECT 1 FROM jobs WHERE job_id = 'last'").first()).toBeNull();
});
