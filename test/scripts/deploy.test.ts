import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { findUnconsumedQueues } from "../../scripts/cloudflare/account.ts";
import { CloudflareApi } from "../../scripts/cloudflare/api.ts";
import { applyPlan, planSetup } from "../../scripts/cloudflare/provision.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { ACCOUNT_ID, linkBuild, runScript, setUpCloudflare, TOKEN } from "./cloudflare-api.ts";

const cloudflare = setUpCloudflare();
const root = mkdtempSync(join(tmpdir(), "sightline-deploy-"));
afterAll(() => rmSync(root, { recursive: true }));

const WORKER = "sightline-staging";
const OPTIONS = { location: null, imageDimensions: 1024 };
let folder = "";

const copy = (path: string) => cpSync(join(PROJECT, path), join(folder, path), { recursive: true });

/** Makes a project with the bindings, a migration and a small Worker; sets up its account. */
beforeEach(async () => {
  folder = mkdtempSync(join(root, "project-"));
  for (const name of ["src", "console"]) mkdirSync(join(folder, name));
  copy("migrations/0001_init.sql");
  const write = (path: string, content: string) => writeFileSync(join(folder, path), content);
  linkBuild(folder);
  write("wrangler.toml", readFileSync(join(PROJECT, "wrangler.toml"), "utf8"));
  write("console/index.html", "<p>Sightline</p>");
  write("console/_headers", "");
  const classes = ["MediaIndex", "IndexDatabase", "ModelLimiter"].map(
    (name) => `export class ${name} extends DurableObject {}`,
  );
  const header = 'import { DurableObject } from "cloudflare:workers";';
  write("src/index.ts", [header, ...classes, "export default { fetch() {} };"].join("\n"));
  const api = new CloudflareApi(ACCOUNT_ID, TOKEN, cloudflare.url);
  await applyPlan(api, await planSetup(api, folder, "staging", OPTIONS), () => {});
  cloudflare.writes = [];
});

const runDeploy = (...args: string[]) => runScript(cloudflare, folder, ["deploy", ...args]);
const runWithSmokeTest = (key: string) =>
  runScript(cloudflare, folder, ["deploy", "--env", "staging", "--url", "http://127.0.0.1:9"], {
    API_KEY: key,
  });
const liveVersion = () => cloudflare.account.workers.get(WORKER)?.deployments[0];
const failTriggers = () => {
  cloudflare.fail = (write) => (write.endsWith("/schedules") ? "refuse" : null);
};

describe("deploy", () => {
  it("applies the migrations, then deploys the Worker with the environment's bindings", async () => {
    copy("migrations");
    const { stdout, status } = await runDeploy("--env", "staging");
    expect(status).toBe(0);
    expect(stdout).toContain(`Deployed ${WORKER}. Version: ${liveVersion()}`);
    const { databases, workers, queues } = cloudflare.account;
    const tables = databases.get(WORKER)!.sqlite.prepare("SELECT count(*) AS n FROM assets").get();
    expect(tables).toEqual({ n: 0 });
    const version = workers.get(WORKER)!.versions.get(liveVersion()!)!;
    expect(version.code_update_strategy).toEqual({ mode: "immediate" });
    // Exports read more than the 10,000 rows that are allowed without a setting.
    expect(version.limits).toEqual({ cpu_ms: 300_000, subrequests: 1_000_000 });
    const { bindings } = version;
    expect(bindings).toEqual(
      expect.arrayContaining([
        { type: "r2_bucket", name: "MEDIA", bucket_name: `${WORKER}-media` },
        { type: "vectorize", name: "IMAGE_VECTORS_1", index_name: `${WORKER}-image-1` },
        { type: "inherit", name: "KEY_SECRETS" },
      ]),
    );
    expect(queues.get(`${WORKER}-jobs`)?.consumers).toMatchObject([
      { dead_letter_queue: `${WORKER}-jobs-dead` },
    ]);
  });

  it("prints the command that rolls back when the triggers of a later version fail", async () => {
    await runDeploy("--env", "staging");
    const before = liveVersion();
    failTriggers();
    const { stderr, status } = await runDeploy("--env", "staging");
    expect(status).toBe(1);
    expect(liveVersion()).not.toBe(before);
    expect(stderr).toContain(`npx wrangler rollback ${before} --config wrangler.staging.toml`);
  });

  it("prints the command that rolls back when the smoke test fails", async () => {
    await runDeploy("--env", "staging");
    const before = liveVersion();
    writeFileSync(join(folder, "console/index.html"), "<p>Another version</p>");
    const { stdout, stderr, status } = await runWithSmokeTest("any");
    expect(status).toBe(1);
    expect(stdout).toContain("Smoke test");
    expect(stderr).toContain("http://127.0.0.1:9 does not answer");
    expect(stderr).toContain(`npx wrangler rollback ${before} --config wrangler.staging.toml`);
  });

  it("asks for the key of the smoke test before it changes anything", async () => {
    const { stderr, status } = await runWithSmokeTest("");
    expect(status).toBe(2);
    expect(stderr).toContain("needs API_KEY in the environment");
    expect(cloudflare.writes).toEqual([]);
  });

  it("rolls back by itself with --rollback", async () => {
    await runDeploy("--env", "staging");
    const before = liveVersion();
    failTriggers();
    const { stderr, status } = await runDeploy("--env", "staging", "--rollback");
    expect(status).toBe(1);
    expect(stderr).toContain(`Version ${before} serves requests.`);
    expect(liveVersion()).toBe(before);
  });

  it("fails if a queue doesn't have the Worker as its consumer, and names it", async () => {
    const { stdout } = await runDeploy("--env", "staging");
    expect(stdout).toContain("Check the queues");
    const names = ["ingest", "jobs", "webhooks"].map((name) => `${WORKER}-${name}`);
    const { queues } = cloudflare.account;
    queues.get(names[0]!)!.consumers = [];
    queues.get(names[1]!)!.consumers = [{ consumer_id: "1", script: "another" }];
    const api = new CloudflareApi(ACCOUNT_ID, TOKEN, cloudflare.url);
    expect(await findUnconsumedQueues(api, WORKER, names)).toEqual([
      expect.stringContaining(`${names[0]} has no consumer, not ${WORKER}`),
      expect.stringContaining(`${names[1]} has the consumer another, not ${WORKER}`),
    ]);
  });

  it("says what the plan costs that the account needs", async () => {
    cloudflare.account.plan = "free";
    const { stderr, status } = await runDeploy("--env", "staging");
    expect(status).toBe(1);
    expect(stderr).toContain("needs Workers Paid: $5 a month");
    expect(stderr).toContain(`https://dash.cloudflare.com/${ACCOUNT_ID}/workers/plans`);
  });

  it("has nothing to roll back when the first version or a migration fails", async () => {
    failTriggers();
    const first = await runDeploy("--env", "staging", "--rollback");
    expect(first.stderr).toContain("There is no earlier version");
    writeFileSync(join(folder, "migrations/0002_broken.sql"), "CREATE TABLE assets (id TEXT);");
    const second = await runDeploy("--env", "staging", "--rollback");
    expect(second.status).toBe(1);
    expect(second.stderr).toContain('"Apply the migrations" failed. The Worker is unchanged');
  });

  it("refuses an environment that setup hasn't completed since the template changed", async () => {
    const unknown = await runDeploy("--env", "production");
    expect(unknown.stderr).toBe("Run this first: npm run setup -- --env production\n");
    const template = join(folder, "wrangler.toml");
    writeFileSync(template, readFileSync(template, "utf8").replace("300_000", "200_000"));
    const changed = await runDeploy("--env", "staging");
    expect(changed.stderr).toContain("don't agree. Run this first: npm run setup");
    expect(cloudflare.writes).toEqual([]);
  });
});
