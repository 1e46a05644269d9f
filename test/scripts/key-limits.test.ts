import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { limitsSql, readChange } from "../../scripts/key-limits.ts";
import { PROJECT } from "../../scripts/stack/local-state.ts";
import { executeArgs, migrateArgs, wranglerEnv } from "../../scripts/stack/wrangler.ts";
import { ACCOUNT_LIMITS } from "../../src/config.ts";
import { accountId } from "../../src/ids.ts";

const stateDir = mkdtempSync(join(tmpdir(), "sightline-limits-"));
afterAll(() => rmSync(stateDir, { recursive: true }));

const node = (args: string[]) =>
  spawnSync(process.execPath, args, {
    cwd: PROJECT,
    encoding: "utf8",
    env: { ...process.env, ...wranglerEnv(stateDir), STATE_DIR: stateDir },
  });
const key = (...args: string[]) => node(["scripts/key.ts", "limits", ...args]);

it("is one statement, of names and numbers of ours", async () => {
  const id = await accountId("Ada's");
  const change = readChange(["stored_bytes=5e12", "answers_per_day=default"]);
  expect(change).toEqual({ stored_bytes: 5e12, answers_per_day: null });
  expect(await limitsSql("Ada's", change)).toBe(
    `UPDATE accounts SET limits = json_patch(limits, '{"stored_bytes":5000000000000,"answers_per_day":null}') ` +
      `WHERE account_id = '${id}' RETURNING limits`,
  );
  expect(await limitsSql(id, {})).toBe(`SELECT limits FROM accounts WHERE account_id = '${id}'`);
});

it("is sent to the deployed database, or to the local one", () => {
  const [, ...remote] = executeArgs("SELECT 1", null);
  expect(remote.join(" ")).toBe("d1 execute DB --remote --json --yes --command SELECT 1");
  expect(executeArgs("SELECT 1", "/state").join(" ")).toContain("--local");
});

it.each([
  ["fly=1", '"fly" is no limit'],
  ["upload_bytes=1", '"upload_bytes" is no limit'],
  ["stored_bytes", "must be a number"],
  ["stored_bytes=-1", "must be a number"],
  ["stored_bytes=Infinity", "must be a number"],
  ["stored_bytes=1;DROP", "must be a number"],
])("refuses %s", (arg, told) => {
  expect(() => readChange([arg])).toThrow(told);
  const { status, stdout, stderr } = key("--account", "Ada", arg);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain(told);
});

describe("of the local database", { timeout: 240_000 }, () => {
  it("shows what an account may, and changes it", async () => {
    expect(node(migrateArgs(stateDir)).status).toBe(0);
    const nobody = key("--account", "Ada");
    expect([nobody.status, nobody.stdout]).toEqual([1, ""]);
    expect(nobody.stderr).toContain("There is no such account");
    const id = await accountId("Ada");
    const insert = `INSERT INTO accounts (account_id, name, created_at) VALUES ('${id}', 'Ada', 1)`;
    expect(node(executeArgs(insert, stateDir)).status).toBe(0);
    const lineOf = (shown: { stdout: string }, name: string) =>
      shown.stdout.split("\n").find((line) => line.startsWith(`${name} `));
    const changed = key("--account", "Ada", "keys=3", "stored_bytes=5e12");
    expect(lineOf(changed, "keys")).toBe("keys  3  its own");
    expect(lineOf(changed, "stored_bytes")).toBe("stored_bytes  5000000000000  its own");
    const back = key("--account", id, "keys=default");
    expect(lineOf(back, "keys")).toBe(`keys  ${ACCOUNT_LIMITS.keys}`);
    expect(lineOf(back, "stored_bytes")).toBe("stored_bytes  5000000000000  its own");
  });
});
