import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { verifyKey } from "../../src/keys.ts";
import { parseSecrets } from "../../src/signed-token.ts";

const stateDir = mkdtempSync(join(tmpdir(), "sightline-commands-"));
afterAll(() => rmSync(stateDir, { recursive: true }));

function run(script: string, args: string[], env: Record<string, string> = {}) {
  return spawnSync(process.execPath, [`scripts/${script}.ts`, ...args], {
    env: { ...process.env, STATE_DIR: stateDir, ...env },
    encoding: "utf8",
  });
}

describe("key create", () => {
  it("prints only a key, signed with a local secret that only its owner may read", async () => {
    const { stdout, stderr, status } = run("key", [
      "create",
      "--account",
      "Ada",
      "--scopes",
      "read",
    ]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toMatch(/^sl_[\w-]{90,117}\n$/);
    const file = join(stateDir, "secrets.env");
    const secrets = /KEY_SECRETS="?([^"\n]+)/.exec(readFileSync(file, "utf8"))![1]!;
    expect(statSync(file).mode % 0o1000).toBe(0o600);
    expect(await verifyKey(parseSecrets(secrets), stdout.trim())).toMatchObject({
      accountName: "Ada",
      keyName: "terminal",
      scopes: ["read"],
      expiresAt: null,
    });
  });

  it("signs for the deployed service with the secret of the environment", async () => {
    const secrets = `prod:${"A".repeat(43)}`;
    const { stdout } = run("key", ["create", "--account", "Ada", "--name", "laptop", "--remote"], {
      KEY_SECRETS: secrets,
    });
    expect(await verifyKey(parseSecrets(secrets), stdout.trim())).toMatchObject({
      accountName: "Ada",
      keyName: "laptop",
    });
    const without = run("key", ["create", "--account", "Ada", "--remote"], { KEY_SECRETS: "" });
    expect(without).toMatchObject({ stdout: "" });
    expect(without.status).not.toBe(0);
    expect(without.stderr).toContain("KEY_SECRETS");
  });

  it.each([[[]], [["create"]], [["create", "--account", "A", "--scopes", "fly"]], [["destroy"]]])(
    "fails with its usage for %j",
    (args) => {
      const { status, stdout, stderr } = run("key", args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toMatch(/\S/);
    },
  );
});

it("dev fails on a used port and names the variable that chooses another", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = String(typeof address === "object" && address ? address.port : 0);
  for (const [variable, otherVariable] of [
    ["PORT", "ENGINE_PORT"],
    ["ENGINE_PORT", "PORT"],
  ] as const) {
    const { status, stderr } = run("dev", [], { [variable]: port, [otherVariable]: "1" });
    expect(status).toBe(1);
    if (variable === "PORT") expect(stderr).toContain(`Port ${port} is in use`);
    expect(stderr).toContain(`${variable}=`);
  }
  server.close();
});

it("each command prints its usage with --help", () => {
  for (const script of ["dev", "demo", "sample", "key", "setup", "deploy"]) {
    const { status, stdout } = run(script, ["--help"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Usage: npm run /);
  }
});

it("demo fails on a missing path before anything starts", () => {
  const { status, stderr } = run("demo", [join(stateDir, "nothing.mp4")]);
  expect(status).toBe(1);
  expect(stderr).toMatch(/There is no file or folder at .*nothing\.mp4\./);
});
