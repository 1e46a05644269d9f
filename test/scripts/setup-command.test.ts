import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { ACCOUNT_ID, runScript, setUpCloudflare } from "./cloudflare-api.ts";

const cloudflare = setUpCloudflare();
const root = mkdtempSync(join(tmpdir(), "sightline-setup-"));
afterAll(() => rmSync(root, { recursive: true }));

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(root, "project-"));
  copyFileSync(join(PROJECT, "wrangler.toml"), join(folder, "wrangler.toml"));
});

const runSetup = (args: string[], env?: Record<string, string>) =>
  runScript(cloudflare, folder, ["setup", ...args], env);

describe("setup", () => {
  it("prints the plan and writes nothing with --dry-run", async () => {
    const { stdout, status } = await runSetup(["--env", "staging", "--dry-run"]);
    expect(status).toBe(0);
    expect(stdout).toContain("create   D1 database sightline-staging\n");
    expect(stdout).toContain("create   Vectorize index sightline-staging-image-1, 1024 dimensions");
    expect(cloudflare.writes).toEqual([]);
    expect(existsSync(join(folder, "wrangler.staging.toml"))).toBe(false);
  });

  it("writes nothing without --yes when there is no terminal", async () => {
    const { stderr, status } = await runSetup(["--env", "staging"]);
    expect(status).toBe(1);
    expect(stderr).toContain("--yes");
    expect(cloudflare.writes).toEqual([]);
  });

  it("names the file with KEY_SECRETS and prints no secret", async () => {
    const { stdout, stderr, status } = await runSetup(["--env", "staging", "--yes"]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toContain(".wrangler/sightline-staging.env");
    const { secrets } = cloudflare.account.workers.get("sightline-staging")!;
    expect(stdout).not.toContain(secrets.get("KEY_SECRETS"));
    const second = await runSetup(["--env", "staging", "--yes"]);
    expect(second).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("Nothing is missing"),
    });
  });

  it.each([
    ["a missing token", { CLOUDFLARE_API_TOKEN: "" }, "CLOUDFLARE_API_TOKEN is not set"],
    ["a wrong token", { CLOUDFLARE_API_TOKEN: "other" }, "it is wrong, expired or disabled"],
    ["a missing account", { CLOUDFLARE_ACCOUNT_ID: "" }, "CLOUDFLARE_ACCOUNT_ID is not set"],
    ["an unknown account", { CLOUDFLARE_ACCOUNT_ID: "other" }, "Cloudflare has no account other"],
    ["no server", { CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:1" }, "can't be reached"],
  ])("says in words that there is %s", async (_, env, message) => {
    const { stdout, stderr, status } = await runSetup(["--env", "staging", "--yes"], env);
    expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
    expect(stderr).toContain(message);
  });

  it.each([10007, 10090])("makes the Worker if its secret is refused with %i", async (code) => {
    cloudflare.account.unknownWorkerCode = code;
    const { stderr, status } = await runSetup(["--env", "staging", "--yes"]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  });

  it("names a permission that the token lacks", async () => {
    cloudflare.forbidden = /^vectorize/;
    const { stderr } = await runSetup(["--env", "staging", "--yes"]);
    expect(stderr).toContain('The token lacks the permission "Vectorize: Edit"');
    expect(stderr).toContain("Authentication error (10000)");
    expect(cloudflare.writes).toEqual([]);
  });

  it("refuses another account for an environment that has one", async () => {
    await runSetup(["--env", "staging", "--yes"]);
    const env = { CLOUDFLARE_ACCOUNT_ID: "f".repeat(32) };
    const { stderr } = await runSetup(["--env", "staging"], env);
    expect(stderr).toContain(`this environment is in ${ACCOUNT_ID}`);
  });

  it.each([
    [["--yes"], "--env NAME is missing"],
    [["--env", "Staging"], "lowercase letters"],
    [["--env", "staging", "--location", "mars"], "--location must be one of"],
    [["--env", "staging", "--image-dimensions", "4096"], "--image-dimensions must be"],
  ])("refuses the arguments %j", async (args, message) => {
    const { stderr, status } = await runSetup(args);
    expect(status).toBeGreaterThan(0);
    expect(stderr).toContain(message);
  });
});
