import { env } from "cloudflare:workers";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import worker from "../../local/worker.ts";
import { newClient } from "../support/client.ts";

const FULL_HOUR = Date.UTC(2026, 10, 25, 12);

/** A text that only statements of the chore have. */
const CHORES = [
  ["overdue_jobs", "AND dispatches + leased"],
  ["unstarted_assets", "revision = 0 AND created_at"],
  ["waiting_indices", "SELECT DISTINCT account_id, index_id"],
  ["unmirrored_assets", "mirrored_revision < facts_revision"],
  ["deleted_indices", "kind = 'delete_index'"],
  ["due_traversals", "traverse_due_at <="],
  ["uploads", "sha256 IS NOT NULL AND result_asset_id IS NULL"],
  ["old_responses", "DELETE FROM idempotency_keys"],
  ["ended_jobs", "SET retained_at"],
  ["expired_keys", "DELETE FROM api_keys"],
  ["expired_charges", "DELETE FROM object_bytes"],
  ["stored_usage", "INSERT INTO usage"],
  ["vector_counts", "INSERT INTO vector_pairs"],
  ["fill", "AS acceptsIngests"],
] as const;

beforeAll(async () => {
  await newClient();
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs the cron trigger with a D1 that refuses statements with `refused`. Lists all it gets. */
async function runCron(refused: string): Promise<string[]> {
  const statements: string[] = [];
  const prepare = (sql: string) => {
    statements.push(sql);
    if (sql.includes(refused)) throw new Error("D1_ERROR: no such column");
    return env.DB.prepare(sql);
  };
  const DB = { prepare, batch: env.DB.batch.bind(env.DB) } as unknown as D1Database;
  const controller = { scheduledTime: FULL_HOUR, cron: "* * * * *" } as ScheduledController;
  await worker.scheduled(controller, { ...env, DB });
  return statements;
}

it.each(CHORES)(
  "a failure of %s is logged, and all other chores of the cron run",
  async (...chore) => {
    const [name, text] = chore;
    await env.DB.prepare("UPDATE deployment SET swept_at = NULL").run();
    const errors = vi.spyOn(console, "error");
    const statements = await runCron(text);
    expect(errors.mock.calls.map(([line]) => JSON.parse(line as string))).toEqual([
      expect.objectContaining({ event: "lifecycle.chore_failed", chore: name }),
    ]);
    for (const [, other] of CHORES) {
      expect(statements).toContainEqual(expect.stringContaining(other));
    }
    expect(await env.DB.prepare("SELECT swept_at FROM deployment").first("swept_at")).toBe(
      FULL_HOUR,
    );
  },
);
