import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { limitsSql, parseLimitChange } from "../../scripts/key-limits.ts";
import { ACCOUNT_LIMITS } from "../../src/config.ts";
import { accountId } from "../../src/ids.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { executeArgs, migrateArgs, wranglerEnv } from "../../tools/stack/wrangler.ts";

const stateDir = mkdtempSync(join(tmpdir(), "sightline-limits-"));
afterAll(() => rmSync(stateDir, { recursive: true }));

const runNode = (args: string[]) =>
  spawnSync(process.execPath, args, {
    cwd: PROJECT,
    encoding: "utf8",
    env: { ...process.env, ...wranglerEnv(stateDir), STATE_DIR: stateDir },
  });
const runKeyLimits = (...args: string[]) => runNode(["scripts/key.ts", "limits", ...args]);

it("a limit change is one statement of generated ids, known names and numbers", async () => {
  const id = await accountId("Ada's");
  const change = parseLimitChange(["stored_bytes=5e12", "answers_per_day=default"]);
  expect(change).toEqual({ stored_bytes: 5e12, answers_per_day: null });
  expect(await limitsSql("Ada's", change)).toBe(
    "UPDATE accounts SET limits = json_patch(limits, " +
      `'{"stored_bytes":5000000000000,"answers_per_day":null}') ` +
      `WHERE account_id = '${id}' RETURNING limits`,
  );
  expect(await limitsSql(id, {})).toBe(`SELECT limits FROM accounts WHERE account_id = '${id}'`);
});

it("a limit change runs on the deployed database or on the local one", () => {
  const [, ...remote] = executeArgs("SELECT 1", { config: "wrangler.staging.toml" });
  expect(remote.join(" ")).toBe(
    "d1 execute DB --json --yes --command SELECT 1 --config wrangler.staging.toml --remote",
  );
  expect(executeArgs("SELECT 1", { folder: "/state" }).join(" ")).toContain("--local");
});

it.each([
  ["fly=1", '"fly" is no limit'],
  ["upload_bytes=1", '"upload_bytes" is no limit'],
  ["stored_bytes", "must be a number"],
  ["stored_bytes=-1", "must be a number"],
  ["stored_bytes=Infinity", "must be a number"],
  ["stored_bytes=1;DROP", "must be a number"],
])("the limit change %s is rejected", (arg, message) => {
  expect(() => parseLimitChange([arg])).toThrow(message);
  const { status, stdout, stderr } = runKeyLimits("--account", "Ada", arg);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain(message);
});

describe("key limits on the local database", () => {
  it("shows and changes the limits of an account", async () => {
    expect(runNode(migrateArgs(stateDir)).status).toBe(0);
    const unknown = runKeyLimits("--account", "Ada");
    expect([unknown.status, unknown.stdout]).toEqual([1, ""]);
    expect(unknown.stderr).toContain("There is no such account");
    const id = await accountId("Ada");
    const insert = `INSERT INTO accounts (account_id, name, created_at) VALUES ('${id}', 'Ada', 1)`;
    expect(runNode(executeArgs(insert, { folder: stateDir })).status).toBe(0);
    const findLine = (result: { stdout: string }, name: string) =>
      result.stdout.split("\n").find((line) => line.startsWith(`${name} `));
    const changed = runKeyLimits("--account", "Ada", "keys=3", "stored_bytes=5e12");
    expect(findLine(changed, "keys")).toBe("keys  3  its own");
    expect(findLine(changed, "stored_bytes")).toBe("stored_bytes  5000000000000  its own");
    const restored = runKeyLimits("--account", id, "keys=default");
    expect(findLine(restored, "keys")).toBe(`keys  ${ACCOUNT_LIMITS.keys}`);
    expect(findLine(restored, "stored_bytes")).toBe("stored_bytes  5000000000000  its own");
  });
});
