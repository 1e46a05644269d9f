import { createWriteStream } from "node:fs";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { parseEnv } from "node:util";
import { Sightline } from "sightline";
import { cloudflareEnv, emptyState, startCloudflare } from "../../tools/fake-cloudflare/server.ts";
import { createKey } from "../../tools/stack/api-key.ts";
import { ProcessSupervisor } from "../../tools/stack/child.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { wranglerEnv } from "../../tools/stack/wrangler.ts";
import { writeSmokeFiles } from "../smoke/files.ts";
import { cloneProject } from "./clone.ts";
import { DeployPage } from "./deploy-page.ts";
import { Deployment } from "./deployment.ts";
import { startEngine } from "./engine.ts";
import { makeLaterVersion } from "./later-version.ts";
import { type Outside, startOutside } from "./outside.ts";
import { PageShell } from "./page-shell.ts";
import { PLATFORM_CONFIG, Runtime } from "./runtime.ts";
import * as scenario from "./scenario.ts";
import type { StepLog } from "./step-log.ts";

/** Most milliseconds until Vectorize shows a write. */
const VECTORIZE_LAG_MS = 3000;
/** Requests a minute that a key of the second environment may make. */
const RATE = 60;
/** A step of the smoke test in its output. */
// bounded: a line of our own output
const SMOKE_STEP = /^ *(ok|failed|not checked) +(.*)$/;

export interface RehearsalOptions {
  /** Empty folder for the clone, the account's stores and the logs. */
  folder: string;
  log: StepLog;
  signal: AbortSignal;
}

/** What a rehearsal works with. */
interface Stage {
  folder: string;
  clone: string;
  photo: string;
  runtime: Runtime;
  outside: Outside;
  shell: PageShell;
  page: DeployPage;
  first: Deployment;
  second: Deployment;
  log: StepLog;
  /** Exceptions that no handler of a Worker caught. */
  uncaught: string[];
}

/**
 * Follows docs/deploy.md in a clone of the project against a fake account. Runs what was deployed
 * there, and uses it. A step that others need ends the rehearsal if it fails.
 */
export async function rehearse(options: RehearsalOptions): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const stage = await openStage(options, cleanup);
  try {
    const scene = await deployFirst(stage);
    await useService(stage, scene);
    await deployLaterVersion(stage, scene);
    await setUpAgain(stage, scene);
    await deploySecond(stage, scene);
    await conclude(stage);
  } catch (error) {
    if (!(error instanceof StepNeededError)) throw error;
  }
}

/** Opens an empty account, and what a deployment needs around it. */
async function openStage(
  { folder, log, signal }: RehearsalOptions,
  cleanup: AsyncDisposableStack,
): Promise<Stage> {
  const [clone, platform] = [join(folder, "clone"), join(folder, "platform")];
  const supervisor = cleanup.adopt(new ProcessSupervisor(), (one) => one.stopAll());
  const outside = cleanup.adopt(await startOutside(), (one) => one.close());
  await cloneProject(clone);
  const { photo } = await writeSmokeFiles(folder);
  await copyFile(photo, join(clone, "photo.jpg"));
  await writeFile(join(folder, ".curlrc"), "fail-with-body\n"); // a refused request fails its block
  const uncaught: string[] = [];
  const workerLog = createWriteStream(join(folder, "workers.log"));
  cleanup.defer(() => void workerLog.end());
  const engine = await startEngine(supervisor, folder);
  const onLog = (line: string) => {
    workerLog.write(`${line}\n`);
    if (line.includes("Uncaught")) uncaught.push(line);
  };
  const stores = join(folder, "account");
  const runtime = new Runtime({
    folder: stores,
    platform,
    engine,
    vectorizeLagMs: VECTORIZE_LAG_MS,
    onLog,
  });
  cleanup.defer(() => runtime.stop());
  const cloudflare = await startCloudflare(emptyState(runtime.account));
  cleanup.defer(() => cloudflare.close());
  const open = async (environment: string) =>
    cleanup.adopt(await Deployment.open(runtime, clone, environment), (one) => one.stop());
  const [first, second] = [await open("rehearsal"), await open("second")];
  const probe = await open(`${first.environment}-probe`); // of the smoke test
  const env = { ...shellEnv(folder, cloudflare.origin), PROBE_URL: probe.origin };
  const shell = new PageShell(clone, env, signal);
  const page = new DeployPage(shell, { production: first, staging: second });
  runtime.account.onDeploy = async (worker, upload) => {
    if (upload.bindings?.length === 0) return; // the empty Worker that takes the secret
    await [first, second, probe].find((one) => one.worker === worker)?.start(shell, upload);
  };
  await shell.run(`npx wrangler deploy --dry-run --config ${PLATFORM_CONFIG} --outdir ${platform}`);
  return { folder, clone, photo, runtime, outside, shell, page, first, second, log, uncaught };
}

/** Follows the page from the empty account to the smoke test. */
async function deployFirst(stage: Stage): Promise<scenario.Scene> {
  const { runtime, outside, photo, shell, page, first, log } = stage;
  await follow(stage, "Read the credentials", "CLOUDFLARE_API_TOKEN");
  await follow(stage, "Set up an environment in an empty account", "npm run setup");
  await editFirst(stage);
  await follow(stage, "Apply the migrations and deploy the Worker", "npm run deploy");
  await follow(stage, "Make a key", "key -- create");
  await follow(stage, "Take a first image to ready, and search", "photo.jpg");
  await need(log, "Run the smoke test", () => smoke(page, log));
  const key = await shell.read("KEY");
  return { runtime, outside, photo, tenant: openTenant(first, key) };
}

/** Edits what an operator may: which hosts are fetched, and how late Vectorize is. */
async function editFirst({ outside, first }: Stage): Promise<void> {
  const allowed = [outside.origin, first.origin].map((origin) => new URL(origin).host).join();
  await first.edit((text) => withShortLag(text.replace(/(FETCH_ALLOW = )""/, `$1"${allowed}"`)));
}

/** Uses what the smoke test doesn't. */
async function useService({ log }: Stage, scene: scenario.Scene): Promise<void> {
  const run = (title: string, step: (scene: scenario.Scene) => Promise<string>) =>
    log.run(title, () => step(scene));
  await run("Serve the console and the documentation", scenario.serveAssets);
  await run("Fail the asset of a message in its dead-letter queue", scenario.deadLetterIngest);
  await run("Fail the job of a message in its dead-letter queue", scenario.deadLetterJob);
  await run("Deliver a signed webhook", scenario.deliverWebhook);
  await run("Traverse an index on schedule", scenario.traverseOnSchedule);
  await run("Export an index, and import it into another", scenario.exportAndImport);
  await run("Delete an index", scenario.deleteIndex);
  await run("Upload while one of 17 calls resets its object", scenario.uploadDuringResets);
}

/** Deploys a version with more migrations over the first one, whose data must stay. */
async function deployLaterVersion(
  { clone, page, first, shell, runtime, log }: Stage,
  scene: scenario.Scene,
): Promise<void> {
  const versions = () => runtime.account.workers.get(first.worker)!.deployments;
  const [earlier] = versions();
  await need(log, "Deploy a later version over running objects, with its smoke test", async () => {
    const before = await scenario.searchByPhoto(scene, "imported");
    await makeLaterVersion(clone);
    first.hasOldObjects = true; // a deployment may leave them for minutes
    const note = await smoke(page, log);
    first.hasOldObjects = false;
    const after = await scenario.searchByPhoto(scene, "imported");
    if (after !== before) throw new Error(`a search found ${before}, and now ${after}`);
    return note;
  });
  await log.run("Migrate D1 and the objects to the later version", () =>
    scenario.expectLaterSchemas(scene),
  );
  const config = `--config ${first.configFile}`;
  await need(log, "Roll back to the version before, and call each class of objects", async () => {
    await shell.run(`npx wrangler rollback ${earlier} --message "A rehearsal" --yes ${config}`);
    if (versions()[0] !== earlier) throw new Error(`${versions()[0]} is deployed`);
    return scenario.callObjects(scene, "imported", "rolled-back");
  });
  await need(log, "Deploy the later version again, and call each class of objects", async () => {
    await shell.run(`npm run deploy -- --env ${first.environment}`);
    return scenario.callObjects(scene, "rolled-back", "forward-again");
  });
  await log.run("Update running objects at once", async () => {
    const other = first.updateModes.find((mode) => mode !== "immediate");
    if (other !== undefined || first.updateModes.length < 4) throw new Error(`${other}`);
    return `${first.updateModes.length} deployments`;
  });
}

/** Makes the file of the first environment again, as after its loss, and deploys with it. */
async function setUpAgain(stage: Stage, scene: scenario.Scene): Promise<void> {
  const { first, shell, log } = stage;
  await log.run(
    "Set up without the file of the environment, and deploy with a new one",
    async () => {
      const lost = await readFile(first.configFile, "utf8");
      await rm(first.configFile);
      await shell.run(`npm run setup -- --env ${first.environment} --location weur --yes`);
      await editFirst(stage);
      if ((await readFile(first.configFile, "utf8")) !== lost) throw new Error("The file differs.");
      await shell.run(`npm run deploy -- --env ${first.environment}`);
      return scenario.callObjects(scene, "forward-again", "set-up-again");
    },
  );
}

/** Deploys another environment beside the first one. */
async function deploySecond(stage: Stage, scene: scenario.Scene): Promise<void> {
  const { clone, second, log } = stage;
  await follow(stage, "Set up another environment", "npm run setup");
  await second.edit((text) =>
    withShortLag(text.replace(/(KEY_RATE = "|limit = )600/g, `$1${RATE}`)),
  );
  await follow(stage, "Deploy it", "npm run deploy");
  const [other, another] = await Promise.all(
    ["me", "another"].map(async (account) =>
      openTenant(second, await createSecondKey(clone, second, account)),
    ),
  );
  await log.run("Share nothing between two environments", () => scenario.isolate(scene, other!));
  await log.run("Meet the rate limit of a key", () => scenario.limitRate(another!, RATE));
}

async function conclude({ folder, page, log, uncaught }: Stage): Promise<void> {
  await log.run("Follow every command of docs/deploy.md", async () => {
    if (page.remaining.length > 0) throw new Error(`left: ${page.remaining[0]!.at}`);
    return "none is left";
  });
  await log.run("Log no uncaught exception", async () => {
    if (uncaught.length > 0) throw new Error(uncaught[0]);
    return join(folder, "workers.log");
  });
}

/** Follows the next block of the page, which later steps need. */
function follow({ log, page }: Stage, title: string, text: string): Promise<void> {
  return need(log, title, async () => (await page.follow(text)).at(-1) ?? "");
}

/** Runs a step that later ones need. Throws a `StepNeededError` if it fails. */
async function need(log: StepLog, title: string, work: () => Promise<string>): Promise<void> {
  if (!(await log.run(title, work))) throw new StepNeededError(title);
}

/** A step failed that all later ones need. */
class StepNeededError extends Error {}

/** Follows a block that runs the smoke test, and records its steps. */
async function smoke(page: DeployPage, log: StepLog): Promise<string> {
  const lines = await page.follow("--url");
  const steps = lines.flatMap((line) => {
    const [, outcome, note] = SMOKE_STEP.exec(line) ?? [];
    return outcome ? [{ outcome: outcome as "ok" | "failed" | "not checked", note: note! }] : [];
  });
  for (const { outcome, note } of steps) {
    log.add({ title: "Smoke test", outcome, note, seconds: 0 });
  }
  return `${steps.length} steps`;
}

function openTenant(deployment: Deployment, key: string): scenario.Tenant {
  const sightline = new Sightline({ url: deployment.origin, apiKey: key, maxRetries: 0 });
  return { deployment, key, sightline };
}

/** Sets for how long the service waits until Vectorize shows what it has written. */
function withShortLag(config: string): string {
  return config.replace(/^(VECTOR_LAG_SECONDS = ).*$/m, `$1"${2 * (VECTORIZE_LAG_MS / 1000)}"`);
}

/** Makes a key of an environment, with the secret in the file of its setup. */
async function createSecondKey(
  clone: string,
  { worker }: Deployment,
  account: string,
): Promise<string> {
  const file = await readFile(join(clone, `.wrangler/${worker}.env`), "utf8");
  const { KEY_SECRETS: secrets = "" } = parseEnv(file.replace(/^export /gm, ""));
  return createKey(secrets, { account });
}

/** Returns the environment of an operator's shell, without that of the command that runs us. */
function shellEnv(folder: string, origin: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"));
  return {
    ...Object.fromEntries(inherited),
    ...wranglerEnv(join(folder, "wrangler")),
    ...cloudflareEnv(origin),
    PATH: `${join(PROJECT, "node_modules/.bin")}${delimiter}${process.env["PATH"]}`,
    CURL_HOME: folder,
    NODE_OPTIONS: "",
  };
}
