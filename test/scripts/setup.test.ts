import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { CloudflareApi } from "../../scripts/cloudflare/api.ts";
import {
  applyPlan,
  hasProblem,
  isComplete,
  planSetup,
} from "../../scripts/cloudflare/provision.ts";
import type { ResourceOptions } from "../../scripts/cloudflare/resources.ts";
import { parseSecrets } from "../../src/signed-token.ts";
import { CloudflareAccount } from "../../tools/fake-cloudflare/account.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { ACCOUNT_ID, setUpCloudflare, TOKEN } from "./cloudflare-api.ts";

const cloudflare = setUpCloudflare();
const root = mkdtempSync(join(tmpdir(), "sightline-setup-"));
afterAll(() => rmSync(root, { recursive: true }));

let folder = "";
beforeEach(() => createFolder());

/** Makes a folder with the template and no environment. */
function createFolder(): void {
  folder = mkdtempSync(join(root, "project-"));
  copyFileSync(join(PROJECT, "wrangler.toml"), join(folder, "wrangler.toml"));
}

const OPTIONS: ResourceOptions = { location: "weur", imageDimensions: 768 };
const openApi = () => new CloudflareApi(ACCOUNT_ID, TOKEN, cloudflare.url);
const plan = (environment = "staging", options = OPTIONS) =>
  planSetup(openApi(), folder, environment, options);

/** Runs setup; returns the sentence of a failure, or null. */
async function runSetup(environment = "staging"): Promise<string | null> {
  try {
    await applyPlan(openApi(), await plan(environment), () => {});
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const readConfig = (environment: string): unknown =>
  JSON.parse(JSON.stringify(parse(readText(`wrangler.${environment}.toml`))));
const readText = (file: string): string => readFileSync(join(folder, file), "utf8");

/** Expects an account and a folder that setup has completed. */
async function expectComplete(): Promise<void> {
  const { account } = cloudflare;
  const name = "sightline-staging";
  expect([...account.databases.keys()]).toEqual([name]);
  const rules = [
    { id: "Default Multipart Abort Rule" },
    ...[
      ["clips", 86_400],
      ["uploads", 691_200],
    ].map(([id, maxAge]) => ({
      id,
      enabled: true,
      conditions: { prefix: `${id}/` },
      deleteObjectsTransition: { condition: { type: "Age", maxAge } },
    })),
  ];
  expect([...account.databases.values()]).toMatchObject([{ location: "weur" }]);
  expect([...account.buckets.values()]).toEqual([
    { name: `${name}-media`, location: "weur", rules },
  ]);
  const metadataIndexes = ["asset_id", "asset_type", "kind"].map((propertyName) => ({
    propertyName,
    indexType: "string",
  }));
  const toIndex = (suffix: string, dimensions: number) => ({
    name: `${name}-${suffix}`,
    config: { dimensions, metric: "cosine" },
    vectorCount: 0,
    metadataIndexes,
  });
  expect([...account.vectorIndexes.values()]).toEqual([
    toIndex("text-1", 1024),
    toIndex("image-1", 768),
  ]);
  const queues = ["ingest", "jobs", "webhooks", "ingest-dead", "jobs-dead"];
  expect([...account.queues.keys()].sort()).toEqual(
    queues.map((queue) => `${name}-${queue}`).sort(),
  );
  const secrets = account.workers.get(name)?.secrets;
  const value = secrets?.get("KEY_SECRETS") ?? "";
  expect([...parseSecrets(value).keys()]).toEqual(["k1"]);
  expect(readText(`.wrangler/${name}.env`)).toBe(`export KEY_SECRETS='${value}'\n`);
  expect(readConfig("staging")).toMatchObject({
    name,
    account_id: ACCOUNT_ID,
    main: "src/index.ts",
    d1_databases: [{ database_id: account.databases.get(name)?.uuid, binding: "DB" }],
  });
  expect(isComplete(await plan())).toBe(true);
}

describe("setup", () => {
  it("creates every resource of the template, the secret and the file, from nothing", async () => {
    expect(await runSetup()).toBeNull();
    await expectComplete();
    expect(statSync(join(folder, ".wrangler/sightline-staging.env")).mode % 0o1000).toBe(0o600);
  });

  it("creates the metadata indexes of a Vectorize index right after it", async () => {
    await runSetup();
    const calls = cloudflare.writes.filter((write) => write.includes("vectorize"));
    const metadata = (index: string) =>
      `POST vectorize/v2/indexes/sightline-staging-${index}/metadata_index/create`;
    const create = "POST vectorize/v2/indexes";
    const [text1, image1] = [metadata("text-1"), metadata("image-1")];
    expect(calls).toEqual([create, text1, text1, text1, create, image1, image1, image1]);
  });

  it("plans nothing and writes nothing when it runs twice", async () => {
    await runSetup();
    const texts = [readText("wrangler.staging.toml"), readText(".wrangler/sightline-staging.env")];
    cloudflare.writes = [];
    expect(isComplete(await plan())).toBe(true);
    expect(await runSetup()).toBeNull();
    expect(cloudflare.writes).toEqual([]);
    expect([
      readText("wrangler.staging.toml"),
      readText(".wrangler/sightline-staging.env"),
    ]).toEqual(texts);
  });

  it("creates only what is missing when half is there, and keeps a bucket's own rules", async () => {
    await runSetup();
    const { account } = cloudflare;
    account.queues.delete("sightline-staging-jobs-dead");
    account.vectorIndexes.get("sightline-staging-text-1")!.metadataIndexes.pop();
    const bucket = account.buckets.get("sightline-staging-media")!;
    bucket.rules = bucket.rules.filter(({ id }) => id !== "uploads");
    cloudflare.writes = [];
    expect(await runSetup()).toBeNull();
    expect(cloudflare.writes).toEqual([
      "PUT r2/buckets/sightline-staging-media/lifecycle",
      "POST vectorize/v2/indexes/sightline-staging-text-1/metadata_index/create",
      "POST queues",
    ]);
    expect(bucket.rules.map(({ id }) => id)).toEqual([
      "Default Multipart Abort Rule",
      "clips",
      "uploads",
    ]);
    await expectComplete();
  });

  it("leaves the secret of a Worker that has one", async () => {
    await runSetup();
    const { secrets } = cloudflare.account.workers.get("sightline-staging")!;
    secrets.set("KEY_SECRETS", "rotated");
    rmSync(join(folder, ".wrangler"), { recursive: true });
    cloudflare.writes = [];
    expect(await runSetup()).toBeNull();
    expect([secrets.get("KEY_SECRETS"), cloudflare.writes]).toEqual(["rotated", []]);
  });

  it.each(["refuse", "lose"] as const)(
    "stops at a call that fails (%s), and the next run completes it, for each call in turn",
    async (failure) => {
      await runSetup();
      const { length } = cloudflare.writes;
      expect(length).toBeGreaterThan(15);
      for (let failing = 1; failing <= length; failing++) {
        createFolder();
        cloudflare.account = new CloudflareAccount();
        cloudflare.writes = [];
        cloudflare.fail = (_, number) => (number === failing ? failure : null);
        const message = await runSetup();
        expect(message).toMatch(/^ {2}failed {4}\S/);
        expect(message).toContain("Run the same command again");
        expect(cloudflare.writes.length).toBe(failing);
        cloudflare.fail = () => null;
        expect(await runSetup()).toBeNull();
        await expectComplete();
      }
    },
  );

  it("keeps two environments apart, made from one template", async () => {
    await runSetup("staging");
    await runSetup("production");
    const { account } = cloudflare;
    expect([...account.databases.keys()]).toEqual(["sightline-staging", "sightline-production"]);
    const toValues = (environment: string): string[] =>
      readText(`wrangler.${environment}.toml`).match(/(?<=_id = ").*(?=")/g) ?? [];
    const ids = [...toValues("staging"), ...toValues("production")];
    expect(ids.length).toBe(8);
    expect(new Set(ids.filter((id) => id !== ACCOUNT_ID)).size).toBe(6);
    expect(await runSetup("staging")).toBeNull();
    expect(isComplete(await plan("staging"))).toBe(true);
  });

  it("takes over changes of the template, and leaves settings of the environment", async () => {
    await runSetup();
    const file = join(folder, "wrangler.staging.toml");
    const edited = readText("wrangler.staging.toml")
      .replace('KEY_RATE = "600"', 'KEY_RATE = "60"')
      .replace("limit = 600", "limit = 60");
    writeFileSync(file, `workers_dev = false\n${edited}`);
    expect(isComplete(await plan())).toBe(true);
    const template = join(folder, "wrangler.toml");
    writeFileSync(
      template,
      readText("wrangler.toml").replace("max_retries = 8", "max_retries = 9"),
    );
    expect((await plan()).fileAction).toBe("update");
    await runSetup();
    expect(readConfig("staging")).toMatchObject({
      workers_dev: false,
      vars: { KEY_RATE: "60", ACCOUNT_RATE: "1800" },
      ratelimits: [{ simple: { limit: 60 } }, { simple: { limit: 1800 } }],
      queues: { consumers: expect.arrayContaining([expect.objectContaining({ max_retries: 9 })]) },
    });
  });

  it("refuses a Vectorize index of other dimensions, and one with vectors but no index", async () => {
    await runSetup();
    const other = await plan("staging", { ...OPTIONS, imageDimensions: 1024 });
    expect(other.resources.filter(({ action }) => action === "differs")).toMatchObject([
      { problem: expect.stringContaining("It has 768 dimensions") },
    ]);
    const index = cloudflare.account.vectorIndexes.get("sightline-staging-text-1")!;
    index.metadataIndexes.pop();
    index.vectorCount = 5;
    expect(hasProblem(await plan())).toBe(true);
  });
});
