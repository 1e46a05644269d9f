import { spawnSync } from "node:child_process";
import { ACCOUNT_LIMITS } from "../src/config.ts";
import { accountId } from "../src/ids.ts";
import { PROJECT } from "./stack/local-state.ts";
import { executeArgs, wranglerEnv } from "./stack/wrangler.ts";

const OF_ONE_FILE = ["upload_bytes", "image_bytes", "video_seconds"] as const;
type Limit = Exclude<keyof typeof ACCOUNT_LIMITS, (typeof OF_ONE_FILE)[number]>;
/** What is counted: of that, one account may have another number. */
const COUNTED = Object.keys(ACCOUNT_LIMITS).filter(
  (name): name is Limit => !OF_ONE_FILE.some((other) => other === name),
);

/** What an account is to have; null: what every account has. */
export type LimitChange = { [limit in Limit]?: number | null };

/** `name=number` or `name=default`. Throws a sentence that says what is wrong. */
export function readChange(args: string[]): LimitChange {
  return Object.fromEntries(
    args.map((arg) => {
      const [name = "", value = ""] = arg.split("=");
      if (!COUNTED.some((limit) => limit === name)) {
        throw new Error(`"${name}" is no limit of an account; there are ${COUNTED.join(", ")}.`);
      }
      const number = /^\d/.test(value) ? Number(value) : Number.NaN;
      if (value === "default") return [name, null];
      if (Number.isFinite(number)) return [name, number];
      throw new Error(`${name} must be a number or "default", not "${value}".`);
    }),
  );
}

/** One statement that answers with the account's own limits. Its texts are ids, names and numbers of ours. */
export async function limitsSql(account: string, change: LimitChange): Promise<string> {
  const id = /^acc_[0-9A-Z]{26}$/.test(account) ? account : await accountId(account);
  const where = `WHERE account_id = '${id}'`;
  if (Object.keys(change).length === 0) return `SELECT limits FROM accounts ${where}`;
  // RFC 7396: what is null goes.
  const patched = `json_patch(limits, '${JSON.stringify(change)}')`;
  return `UPDATE accounts SET limits = ${patched} ${where} RETURNING limits`;
}

/**
 * Asks D1, the local one in `folder` or, where that is null, the deployed one. Throws with what wrangler says,
 * or where there is no such account.
 */
export function executeLimits(sql: string, folder: string | null): LimitChange {
  const { stdout, stderr } = spawnSync(process.execPath, executeArgs(sql, folder), {
    cwd: PROJECT,
    encoding: "utf8",
    env: { ...process.env, ...wranglerEnv(folder ?? PROJECT) },
  });
  const [answer] = readAnswer(stdout) ?? [];
  if (!answer) throw new Error(`D1 did not answer. ${`${stdout}${stderr}`.trim()}`);
  const [row] = answer.results;
  if (!row) {
    throw new Error("There is no such account: it is on record from its first request on.");
  }
  return JSON.parse(row.limits) as LimitChange;
}

/** A line a limit: what every account may, or what this one may instead. */
export function describeLimits(own: LimitChange): string {
  const lines = COUNTED.map((name) => {
    const value = own[name] ?? null;
    return value === null ? `${name}  ${ACCOUNT_LIMITS[name]}` : `${name}  ${value}  its own`;
  });
  return `${lines.join("\n")}\n`;
}

type Answer = { results: { limits: string }[] }[];

function readAnswer(stdout: string): Answer | null {
  try {
    const answer: Answer | object = JSON.parse(stdout);
    return Array.isArray(answer) ? answer : null;
  } catch {
    return null;
  }
}
