import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { CloudflareApi } from "../../scripts/cloudflare/api.ts";
import { applyPlan, planSetup } from "../../scripts/cloudflare/provision.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { ACCOUNT_ID, setUpCloudflare, TOKEN } from "./cloudflare-api.ts";

const cloudflare = setUpCloudflare();
const root = mkdtempSync(join(tmpdir(), "sightline-deploy-"));
afterAll(() => rmSync(root, { recursive: true }));

const WORKER = "sightline-staging";
const OPTIONS = { location: null, imageDimensions: 1024 };
let folder = "";

/** Makes a project with the template's bindings and a small Worker, and sets up its account. */
beforeEach(async () => {
  folder = mkdtempSync(join(root, "project-"));
  for (const name of ["src", "console", "migrations"]) mkdirSync(join(folder, name));
  const write = (path: string, content: string) => writeFileSync(join(folder, path), content);
  write("wrangler.toml", readFileSync(join(PROJECT, "wrangler.toml"), "utf8"));
  write("console/index.html", "<p>Sightline</p>");
  write("migrations/0001_assets.sql", "CREATE TABLE assets (asset_id TEXT PRIMARY KEY);");
  const classes = ["MediaIndex", "IndexDatabase", "ModelLimiter"].map(
    (name) => `export class ${name} extends DurableObject {}`,
  );
  const header = 'import { DurableObject } from "cloudflare:workers";';
  write("src/index.ts", [header, ...classes, "export default { fetch() {} };"].join("\n"));
  const api = new CloudflareApi(ACCOUNT_ID, TOKEN, cloudflare.url);
  await applyPlan(api, await planSetup(api, folder, "staging", OPTIONS), () => {});
  cloudflare.writes = [];
});

async function runDeploy(...args: string[]) {
  const child = spawn(process.execPath, [join(PROJECT, "scripts/deploy.ts"), ...args], {
    cwd: folder,
    env: {
      ...process.env,
      CLOUDFLARE_API_BASE_URL: cloudflare.url,
      CLOUDFLARE_API_TOKEN: TOKEN,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return { stdout, stderr, status: child.exitCode };
}

describe("deploy", { timeout: 120_000 }, () => {
  it("applies the migrations, then deploys the Worker with the environment's bindings", async () => {
    const r = await runDeploy("--env", "staging");
    console.log(r.stdout, r.stderr, cloudflare.writes);
    expect(WORKER).toBe("x");
  });
});
