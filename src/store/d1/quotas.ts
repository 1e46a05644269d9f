import { ACCOUNT_LIMITS } from "../../config.ts";
import { AppError } from "../../errors.ts";
import type { AccountId, AssetId } from "../../ids.ts";
import type { AssetRef } from "../../types.ts";
import { type ChargedTo, assetPrefix, listObjects, sourceKey } from "../r2/object-keys.ts";
import { batch, concat, raw, sql, type SqlFragment, inList, d1 } from "../sql.ts";
import { COST_SQL } from "./usage.ts";

const DAY_MS = 24 * 3600 * 1000;
/** Seconds of `Retry-After` for limits that free up as work ends. */
const RETRY_SOON_SECONDS = 60;

const today = (value: string) =>
  `(SELECT ${value} FROM usage
     WHERE usage.account_id = accounts.account_id AND date = date('now'))`;
const sumOfTallies = (value: string, where = "true") =>
  `(SELECT SUM(${value}) FROM tallies
     WHERE tallies.account_id = accounts.account_id AND ${where})`;
const openUploads = (value: string) =>
  `(SELECT ${value} FROM uploads
     WHERE uploads.account_id = accounts.account_id AND result_asset_id IS NULL)`;
const IN_PROGRESS = "state NOT IN ('ready', 'failed')";
const IMAGES_IN_PROGRESS = `asset_type = 'image' AND ${IN_PROGRESS}`;

/**
 * For each limit, SQL for its usage in a statement that reads `accounts`, and when usage goes down:
 * at `midnight` (UTC), `soon` as work ends, or `on_deletion` only.
 */
const USAGE = {
  searches_per_day: { sql: today("searches"), resets: "midnight" },
  answers_per_day: { sql: today("answers"), resets: "midnight" },
  cost_usd_per_day: { sql: today(COST_SQL), resets: "midnight" },
  // Ingests in progress count, too: they are metered when they become ready.
  ingest_minutes_per_day: {
    sql: `COALESCE(${today("ingested_ms / 60000.0")}, 0)
      + COALESCE(${sumOfTallies("duration_ms / 60000.0", IN_PROGRESS)}, 0)`,
    resets: "midnight",
  },
  ingest_images_per_day: {
    sql: `COALESCE(${today("ingested_images")}, 0)
      + COALESCE(${sumOfTallies("assets", IMAGES_IN_PROGRESS)}, 0)`,
    resets: "midnight",
  },
  concurrent_ingests: { sql: sumOfTallies("assets", IN_PROGRESS), resets: "soon" },
  // Open uploads count by their declared length, or by what is stored of them if that is more.
  stored_bytes: {
    sql: `COALESCE(${sumOfTallies("size_bytes")}, 0) + object_bytes
      + COALESCE(${openUploads("SUM(MAX(COALESCE(length, 0), received, stored_bytes))")}, 0)`,
    resets: "on_deletion",
  },
  open_uploads: { sql: openUploads("COUNT(*)"), resets: "soon" },
  keys: {
    sql: `(SELECT COUNT(*) FROM api_keys
      WHERE api_keys.account_id = accounts.account_id AND revoked_at IS NULL
        AND COALESCE(expires_at, 9e15) > unixepoch() * 1000)`,
    resets: "on_deletion",
  },
  indices: {
    sql: `(SELECT COUNT(*) FROM indices
      WHERE indices.account_id = accounts.account_id AND deleted_at IS NULL)`,
    resets: "on_deletion",
  },
  // Kept by triggers: migrations/0003_record_bytes.sql.
  record_bytes: { sql: "accounts.record_bytes", resets: "on_deletion" },
} as const satisfies Partial<Record<keyof typeof ACCOUNT_LIMITS, object>>;

/** A limit on usage, which an account's row can override. */
export type Limit = keyof typeof USAGE;

type Limits = Record<keyof typeof ACCOUNT_LIMITS, number>;

export async function getLimits(db: D1Database, accountId: AccountId): Promise<Limits> {
  const overrides = await d1(db)
    .firstValue<string>`SELECT limits FROM accounts WHERE account_id = ${accountId}`;
  return withOverrides(overrides!);
}

/** Limits of work that costs money: it also needs that the day's cost is within its limit. */
const COSTLY = ["searches_per_day", "answers_per_day", "concurrent_ingests"] as const;

export type QuotaRequest = { readonly [limit in Limit]?: number };
type UsageRow = { limits: string; acceptsIngests: number } & Record<Limit, number>;

const ACCEPTS_INGESTS = "(SELECT accepts_ingests FROM deployment)";

/** Bytes of a row in D1 beside its texts, at most: of its numbers, ids and entries in indexes. */
const ROW_BYTES = 2000;

/** Usage that a row with these texts adds. Objects are stored as JSON. */
export function recordBytes(...values: unknown[]): { record_bytes: number } {
  const sizes = values.map((value) => {
    return Buffer.byteLength(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  });
  return { record_bytes: sizes.reduce((sum, size) => sum + size, ROW_BYTES) };
}

/** SQL for whether an account, in a statement that reads `accounts`, has room for rows in D1. */
export const IS_BELOW_RECORD_LIMIT = `accounts.record_bytes
  < COALESCE(limits ->> '$.record_bytes', ${ACCOUNT_LIMITS.record_bytes})`;

/**
 * Holds an account to its limits within one transaction. A write with `condition` changes nothing
 * if the requested usage would exceed a limit, or adds an ingest while the deployment accepts none:
 * `write` then throws. `throwIfExceeded` takes the row that `usageStatement` has read in a batch.
 */
export class QuotaGuard {
  readonly #accountId: AccountId;
  readonly #requested: QuotaRequest;
  readonly #names: Limit[];
  readonly #isIngest: boolean;

  constructor(accountId: AccountId, requested: QuotaRequest) {
    this.#accountId = accountId;
    const isCostly = COSTLY.some((name) => name in requested);
    this.#requested = isCostly ? { ...requested, cost_usd_per_day: 0 } : requested;
    this.#names = Object.keys(this.#requested) as Limit[];
    this.#isIngest = "concurrent_ingests" in requested;
  }

  /** Condition that nothing refuses the requested usage. */
  get condition(): SqlFragment {
    const withinLimits = this.#names.map(
      (name) => sql`COALESCE(${raw(USAGE[name].sql)}, 0) + ${this.#requested[name]!}
        <= COALESCE(limits ->> ${raw(`'$.${name}'`)}, ${ACCOUNT_LIMITS[name]})`,
    );
    const conditions = [sql`account_id = ${this.#accountId}`, ...withinLimits];
    if (this.#isIngest) conditions.push(raw(ACCEPTS_INGESTS));
    return sql`EXISTS (SELECT 1 FROM accounts WHERE ${concat(conditions, " AND ")})`;
  }

  /** Condition that new texts of columns aren't longer than the old ones, or that they fit. */
  replaceCondition(texts: Readonly<Record<string, string | undefined>>): SqlFragment {
    const replaced = Object.entries(texts).filter(([, text]) => text !== undefined);
    const added = replaced.reduce((sum, [, text]) => sum + Buffer.byteLength(text!), 0);
    const columns = replaced.map(([name]) => `length(CAST(${name} AS BLOB))`);
    return sql`(${added} <= ${raw(["0", ...columns].join(" + "))} OR ${this.condition})`;
  }

  get usageStatement(): SqlFragment {
    const columns = this.#names.map((name) => `COALESCE(${USAGE[name].sql}, 0) AS ${name}`);
    const common = ["limits", `${ACCEPTS_INGESTS} AS acceptsIngests`];
    return sql`SELECT ${raw([...common, ...columns].join(", "))}
        FROM accounts WHERE account_id = ${this.#accountId}`;
  }

  /**
   * Runs statements in one transaction and returns their results. If the one at `position` changes
   * nothing, throws what `throwIfExceeded` throws.
   */
  async write(db: D1Database, statements: readonly SqlFragment[], position = 0) {
    const results = await batch(db, [...statements, this.usageStatement]);
    const changed = results[position]!.meta.changes > 0;
    if (!changed) this.throwIfExceeded(results.at(-1)!.results[0]);
    return results;
  }

  /**
   * Throws `limit_reached`, `cost_limit_reached`, or `account_full` if waiting won't help, with the
   * name of the first limit that the usage in `row` and the requested usage exceed. Throws
   * `deployment_full` for an ingest that the deployment doesn't accept.
   */
  throwIfExceeded(row: unknown): void {
    const usage = row as UsageRow;
    if (this.#isIngest && !usage.acceptsIngests) throw new AppError("deployment_full", NO_ROOM);
    const limits = withOverrides(usage.limits);
    const exceeded = this.#names.find(
      (name) => usage[name] + this.#requested[name]! > limits[name],
    );
    if (exceeded) throw quotaError(exceeded, limits[exceeded], Date.now());
  }
}

/**
 * Throws what `QuotaGuard.throwIfExceeded` throws. Checks before work begins, and reserves nothing:
 * a guarded write must follow.
 */
export async function requireQuota(db: D1Database, accountId: AccountId, requested: QuotaRequest) {
  const quota = new QuotaGuard(accountId, requested);
  quota.throwIfExceeded(await d1(db).first`${quota.usageStatement}`);
}

function withOverrides(json: string): Limits {
  const overrides = Object.entries(JSON.parse(json) as Partial<Limits>);
  return {
    ...ACCOUNT_LIMITS,
    ...Object.fromEntries(overrides.filter(([name]) => name in USAGE)),
  };
}

const NO_ROOM =
  "This deployment has no room for new videos and images. Searches and deletions go on. " +
  "Ask its operator: docs/operate.md#d1-is-almost-full.";

function quotaError(name: Limit, limit: number, now: number): AppError {
  const { resets } = USAGE[name];
  const message = `This account has reached its limit ${name} (${limit}); ${REMEDIES[resets]}.`;
  if (resets === "on_deletion") return new AppError("account_full", message);
  const untilMidnight = Math.ceil((DAY_MS - (now % DAY_MS)) / 1000);
  const retryAfter = resets === "soon" ? RETRY_SOON_SECONDS : untilMidnight;
  const code = name === "cost_usd_per_day" ? "cost_limit_reached" : "limit_reached";
  return new AppError(code, message, { retryAfter });
}

const REMEDIES = {
  midnight: "there is more from midnight (UTC) on",
  soon: "wait until some have ended",
  on_deletion: "delete what isn't needed",
};

/*
 * Bytes of objects in R2 that no row of `assets` or `uploads` counts. They are charged before they
 * are written, and counted again when an ingest, a job or a traversal of their asset ends.
 */

/** Time after which a charge ends that no asset has taken over, such as that of a query clip. */
const EXPIRY_MS = 2 * 24 * 3600 * 1000; // R2 deletes clips and lines after a day

/** Charges bytes to an account before they are written. Throws `account_full`. */
export async function chargeBytes(
  db: D1Database,
  { owner, accountId }: ChargedTo & { accountId: AccountId },
  bytes: number,
): Promise<void> {
  const now = Date.now();
  const quota = new QuotaGuard(accountId, { stored_bytes: bytes });
  const charge = sql`INSERT INTO object_bytes (owner, account_id, bytes, charged_at, expires_at)
    SELECT ${owner}, ${accountId}, ${bytes}, ${now},
      IIF(EXISTS (SELECT 1 FROM assets WHERE asset_id = ${owner}), NULL, ${now + EXPIRY_MS})
    WHERE ${quota.condition}
    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes, charged_at = excluded.charged_at,
      expires_at = excluded.expires_at`;
  await quota.write(db, [charge]);
}

/** Ends the charge of bytes that are deleted, or that a row counts from this statement on. */
export function releaseBytes(owner: ChargedTo["owner"], bytes: number): SqlFragment {
  return sql`UPDATE object_bytes SET bytes = MAX(0, bytes - ${bytes}) WHERE owner = ${owner}`;
}

/**
 * Ends the charge of an asset's file before a statement that inserts the asset's row, which counts
 * it. Changes nothing if there is such a row.
 */
export function transferBytes(assetId: AssetId, bytes: number): SqlFragment {
  return sql`${releaseBytes(assetId, bytes)}
    AND NOT EXISTS (SELECT 1 FROM assets WHERE asset_id = owner)`;
}

export function releaseAllBytes(owners: readonly ChargedTo["owner"][]): SqlFragment {
  return sql`DELETE FROM object_bytes WHERE owner ${inList(owners)}`;
}

export async function runRelease(db: D1Database, statement: SqlFragment) {
  await d1(db).run`${statement}`;
}

/** Deletes charges that nothing has taken over: their objects are deleted, too. */
export async function deleteExpiredCharges(db: D1Database, now: number): Promise<void> {
  await d1(db).run`DELETE FROM object_bytes WHERE expires_at < ${now}
    AND NOT EXISTS (SELECT 1 FROM assets WHERE asset_id = owner)`;
}

/** Counts the objects of an asset again. Charges made meanwhile stay as they are. */
export async function recountBytes(env: Pick<Env, "DB" | "MEDIA">, asset: AssetRef): Promise<void> {
  const now = Date.now();
  const objects = await listObjects(env.MEDIA, assetPrefix(asset));
  const derived = objects.filter(({ key }) => key !== sourceKey(asset)); // its row counts that
  const bytes = derived.reduce((sum, { size }) => sum + size, 0);
  await d1(env.DB).run`INSERT INTO object_bytes (owner, account_id, bytes, charged_at)
    SELECT asset_id, ${asset.accountId}, ${bytes}, ${now}
    FROM assets WHERE asset_id = ${asset.assetId}
    ON CONFLICT DO UPDATE SET bytes = excluded.bytes, expires_at = NULL
      WHERE bytes <> excluded.bytes AND charged_at < excluded.charged_at`;
}
