import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ACCOUNT_LIMITS } from "../src/config.ts";
import { accountId } from "../src/ids.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { executeArgs, wranglerEnv } from "../tools/stack/wrangler.ts";

const FILE_LIMITS = ["upload_bytes", "image_bytes", "video_seconds"] as const;
type Limit = Exclude<keyof typeof ACCOUNT_LIMITS, (typeof FILE_LIMITS)[number]>;
/** Limits that may differ by account. */
const ACCOUNT_LIMIT_NAMES = Object.keys(ACCOUNT_LIMITS).filter(
  (name): name is Limit => !FILE_LIMITS.some((other) => other === name),
);

/** New limits of an account; null restores the default. */
export type LimitChange = { [limit in Limit]?: number | null };

/** Parses `name=number` and `name=default`. Throws a readable error. */
export function parseLimitChange(args: string[]): LimitChange {
  return Object.fromEntries(
    args.map((arg) => {
      const [name = "", value = ""] = arg.split("=");
      if (!ACCOUNT_LIMIT_NAMES.some((limit) => limit === name)) {
        throw new Error(
          `"${name}" is no limit of an account; there are ${ACCOUNT_LIMIT_NAMES.join(", ")}.`,
        );
      }
      const number = /^\d/.test(value) ? Number(value) : Number.NaN;
      if (value === "default") return [name, null];
      if (Number.isFinite(number)) return [name, number];
      throw new Error(`${name} must be a number or "default", not "${value}".`);
    }),
  );
}

/**
 * Builds a statement that changes an account's limits and returns them. Its text contains only
 * generated ids, known names and numbers, so it needs no bindings.
 */
export async function limitsSql(account: string, change: LimitChange): Promise<string> {
  const id = /^acc_[0-9A-Z]{26}$/.test(account) ? account : await accountId(account);
  const where = `WHERE account_id = '${id}'`;
  if (Object.keys(change).length === 0) return `SELECT limits FROM accounts ${where}`;
  // JSON Merge Patch (RFC 7396): null removes a field.
  const patched = `json_patch(limits, '${JSON.stringify(change)}')`;
  return `UPDATE accounts SET limits = ${patched} ${where} RETURNING limits`;
}

/**
 * Runs a statement on D1: the local database in a state folder, or the deployed one of a
 * configuration file. Throws Wrangler's output if it fails, and an error if there is no such
 * account.
 */
export function executeLimits(
  sql: string,
  target: { folder: string } | { config: string },
): LimitChange {
  const { stdout, stderr } = spawnSync(process.execPath, executeArgs(sql, target), {
    cwd: PROJECT,
    encoding: "utf8",
    env: {
      ...process.env,
      ...wranglerEnv("folder" in target ? target.folder : join(PROJECT, ".wrangler")),
    },
  });
  const [result] = parseExecuteResult(stdout) ?? [];
  if (!result) throw new Error(`D1 did not answer. ${`${stdout}${stderr}`.trim()}`);
  const [row] = result.results;
  if (!row) {
    throw new Error("There is no such account: an account exists from its first request on.");
  }
  return JSON.parse(row.limits) as LimitChange;
}

/** Writes one line per limit: the default or the number of this account. */
export function describeLimits(overrides: LimitChange): string {
  const lines = ACCOUNT_LIMIT_NAMES.map((name) => {
    const value = overrides[name] ?? null;
    return value === null ? `${name}  ${ACCOUNT_LIMITS[name]}` : `${name}  ${value}  its own`;
  });
  return `${lines.join("\n")}\n`;
}

type ExecuteResult = { results: { limits: string }[] }[];

function parseExecuteResult(stdout: string): ExecuteResult | null {
  try {
    const result: ExecuteResult | object = JSON.parse(stdout);
    return Array.isArray(result) ? result : null;
  } catch {
    return null;
  }
}
