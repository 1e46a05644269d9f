import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { addSecret, dropSecret, listKids, useSecret } from "../../scripts/key-secrets.ts";
import { newId, trustedId } from "../../src/ids.ts";
import { type KeyClaims, signKey, verifyKey } from "../../src/keys.ts";
import { parseSecrets } from "../../src/signed-token.ts";

const stateDir = mkdtempSync(join(tmpdir(), "sightline-secrets-"));
afterAll(() => rmSync(stateDir, { recursive: true }));

const FIRST = `k1:${"A".repeat(43)}`;
const CLAIMS: KeyClaims = {
  keyId: newId("key"),
  accountId: trustedId("acc_7ZZZZZZZZZ0123456789ABCDEF"),
  accountName: "Ada",
  scopes: ["read"],
  expiresAt: null,
};
const sign = (secrets: string) => signKey(parseSecrets(secrets), CLAIMS);
const isValidKey = async (secrets: string, key: string) =>
  (await verifyKey(parseSecrets(secrets), key)) !== null;

describe("a signing secret", () => {
  it("is replaced in steps in which every key stays valid", async () => {
    const both = addSecret(FIRST);
    expect(listKids(both)).toEqual(["k1", "k2"]);
    const swapped = useSecret(both, "k2");
    expect(listKids(swapped)).toEqual(["k2", "k1"]);
    const only = dropSecret(swapped, "k1");
    expect(listKids(only)).toEqual(["k2"]);
    // During a deployment, some Workers still have the previous secrets.
    const steps = [FIRST, both, swapped];
    for (const [i, signing] of steps.entries()) {
      const key = await sign(signing);
      for (const verifying of steps.slice(Math.max(0, i - 1), i + 2)) {
        expect(await isValidKey(verifying, key)).toBe(true);
      }
    }
    expect(await isValidKey(only, await sign(FIRST))).toBe(false);
    expect(await isValidKey(only, await sign(swapped))).toBe(true);
  });

  it("is random and gets a new name", () => {
    expect(addSecret(FIRST)).not.toBe(addSecret(FIRST));
    expect(listKids(addSecret(`local:${"A".repeat(43)},k7:${"B".repeat(43)}`)).at(-1)).toBe("k8");
  });

  it("must exist to be used, and is not dropped if it is the only one", () => {
    expect(() => useSecret(FIRST, "k2")).toThrow('no secret "k2"');
    expect(() => dropSecret(FIRST, "k2")).toThrow('no secret "k2"');
    expect(() => dropSecret(FIRST, "k1")).toThrow("only secret");
  });
});

describe("key secrets", () => {
  const run = (args: string[], env: Record<string, string> = {}) =>
    spawnSync(process.execPath, ["scripts/key.ts", ...args], {
      env: { ...process.env, STATE_DIR: stateDir, ...env },
      encoding: "utf8",
    });
  const runLocal = (...args: string[]) => run(["secrets", ...args]).stdout;

  it("changes the local secrets in a file that only its owner may read", () => {
    const key = run(["create", "--account", "Ada"]).stdout.trim();
    expect(runLocal()).toBe("local  signs\n");
    expect(runLocal("add")).toBe("local  signs\nk1\n");
    expect(runLocal("use", "k1")).toBe("k1  signs\nlocal\n");
    const file = join(stateDir, "secrets.env");
    const text = readFileSync(file, "utf8");
    expect(text).toMatch(/^KEY_SECRETS=k1:[\w-]{43},local:[\w-]{43}\nENGINE_TOKEN=.+\n$/);
    expect(statSync(file).mode % 0o1000).toBe(0o600);
    expect(run(["create", "--account", "Ada"]).stdout.split(".")[0]).not.toBe(key.split(".")[0]);
    expect(runLocal("drop", "local")).toBe("k1  signs\n");
  });

  it("prints only the new value of a deployed service with --remote", () => {
    const env = { KEY_SECRETS: FIRST };
    const { stdout, stderr } = run(["secrets", "add", "--remote"], env);
    expect(stdout).toMatch(/^k1:A{43},k2:[\w-]{43}\n$/);
    expect(stderr).toBe("");
    expect(run(["secrets", "--remote"], env).stdout).toBe("k1  signs\n");
  });

  it.each<[string[], Record<string, string>, number, string]>([
    [["secrets", "rotate"], {}, 2, "secrets takes"],
    [["secrets", "use"], {}, 2, "secrets takes"],
    [["secrets", "add", "--remote"], { KEY_SECRETS: "" }, 1, "KEY_SECRETS is not set"],
    [["secrets", "add", "--remote"], { KEY_SECRETS: "k1:AAAA" }, 1, "shorter than"],
    [["secrets", "drop", "k1", "--remote"], { KEY_SECRETS: FIRST }, 1, "only secret"],
  ])("%j fails with a message", (args, env, status, message) => {
    const ended = run(args, env);
    expect({ stdout: ended.stdout, status: ended.status }).toEqual({ stdout: "", status });
    expect(ended.stderr).toContain(message);
  });
});
