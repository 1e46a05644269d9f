import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { deploymentArgs, wranglerEnv } from "../tools/stack/wrangler.ts";
import { findLiveVersion, findUnconsumedQueues } from "./cloudflare/account.ts";
import { type CloudflareApi, explainPlan, openCloudflare } from "./cloudflare/api.ts";
import {
  DOCKER_MISSING,
  findDecoder,
  hasDocker,
  needsDocker,
} from "./cloudflare/decoder-config.ts";
import {
  databaseIdsOf,
  isCurrent,
  readEnvironment,
  toEnvironmentConfig,
} from "./cloudflare/environment-config.ts";
import { applyMigrations } from "./cloudflare/migrations.ts";
import { runCommand, UsageError, withUsageErrors } from "./command-line.ts";

const USAGE = `Usage: npm run deploy -- --env NAME [--rollback]

Applies the migrations of D1 and deploys the Worker with wrangler.NAME.toml, which setup wrote.
With --url, it then runs the smoke test. If the deployment or the smoke test fails after the new
version serves requests, it prints the command that rolls back.

  --env NAME      the environment, such as production
  --url URL       the deployed service, for the smoke test
  --rollback      roll back at once if the deployment or the smoke test fails
  --help          print this help

Environment:
  CLOUDFLARE_API_TOKEN    a token with the permissions of docs/deploy.md
  API_KEY                 a key with all scopes, for the smoke test
`;

interface Deployment {
  environment: string;
  /** File of the environment. */
  config: string;
  worker: string;
  databaseId: string;
  /** Names of the queues whose messages the Worker gets. */
  queues: string[];
  api: CloudflareApi;
  /** URL of the service, or "". */
  url: string;
}

interface Step {
  title: string;
  /** Returns false if the step fails, and prints why. */
  run: (deployment: Deployment) => Promise<boolean>;
}

/** Steps of a deployment, in their order. If one fails, the version before can be restored. */
const STEPS: readonly Step[] = [
  { title: "Apply the migrations", run: migrateDatabase },
  { title: "Deploy the Worker", run: deployWorker },
  { title: "Check the queues", run: checkQueues },
];

/** The step after these, of a deployment whose URL is known. */
const SMOKE_TEST: Step = {
  title: "Smoke test",
  run: ({ url, environment }) =>
    runNode([join(import.meta.dirname, "smoke.ts"), "--url", url, "--env", environment]),
};

async function main(): Promise<void> {
  const values = readArguments();
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  if (values.env === undefined) throw new UsageError("--env NAME is missing.");
  if (values.url !== undefined && !process.env["API_KEY"]) {
    throw new UsageError("The smoke test of --url needs API_KEY in the environment.");
  }
  const { url = "" } = values;
  const deployment = { ...(await readDeployment(values.env)), url };
  const { config, worker, api } = deployment;
  const before = await findLiveVersion(api, worker);
  for (const { title, run } of url === "" ? STEPS : [...STEPS, SMOKE_TEST]) {
    console.log(`\n${title}\n`);
    if (await run(deployment)) continue;
    const advice = await recover(api, { config, worker, before, isAutomatic: values.rollback });
    throw new Error(`\n"${title}" failed. ${advice}`);
  }
  console.log(`\nDeployed ${worker}. Version: ${await findLiveVersion(api, worker)}`);
  if (url === "") console.log("No smoke test was run: see npm run smoke -- --help");
}

/** Reads the file of the environment. Throws if setup must run first, or Docker must. */
async function readDeployment(environment: string) {
  const files = await readEnvironment(process.cwd(), environment);
  const { file, current } = files;
  const setup = `npm run setup -- --env ${environment}`;
  const accountId = current?.account_id;
  const databaseId = current?.d1_databases[0]?.database_id;
  if (!current || accountId === undefined || databaseId === undefined) {
    throw new Error(`Run this first: ${setup}`);
  }
  if (!isCurrent(files, toEnvironmentConfig(files, accountId, databaseIdsOf(current)))) {
    throw new Error(`wrangler.toml and ${file} don't agree. Run this first: ${setup}`);
  }
  if (needsDocker(findDecoder(current)) && !hasDocker()) throw new Error(DOCKER_MISSING);
  const api = openCloudflare(accountId);
  const queues = current.queues.consumers.map(({ queue }) => queue);
  return { environment, config: file, worker: current.name, databaseId, queues, api };
}

/** Imports the pending migrations. `wrangler d1 migrations apply` can't: docs/architecture.md. */
async function migrateDatabase(deployment: Deployment): Promise<boolean> {
  const { config } = deployment;
  const importFile = (path: string) =>
    runWrangler(config, ["d1", "execute", "DB", "--remote", "--yes", "--file", path]);
  try {
    const folder = join(process.cwd(), "migrations");
    await applyMigrations({ ...deployment, folder, importFile, log: (line) => console.log(line) });
    return true;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return false;
  }
}

/** Uploads the Worker. Says what to do if the account's plan is the reason of a refusal. */
async function deployWorker({ config, api }: Deployment): Promise<boolean> {
  let output = "";
  const succeeded = await runWrangler(config, ["deploy"], (text) => (output += text));
  const explanation = succeeded ? null : explainPlan(output, api.accountId);
  if (explanation !== null) console.error(explanation);
  return succeeded;
}

async function checkQueues({ api, worker, queues }: Deployment): Promise<boolean> {
  const problems = await findUnconsumedQueues(api, worker, queues);
  for (const problem of problems) console.error(problem);
  return problems.length === 0;
}

interface FailedDeployment {
  config: string;
  worker: string;
  /** The version that served requests before; null if there was none. */
  before: string | null;
  isAutomatic: boolean | undefined;
}

/** Rolls back if that is wanted and possible. Returns what happened, and what is left to do. */
async function recover(api: CloudflareApi, failed: FailedDeployment): Promise<string> {
  const { config, worker, before, isAutomatic } = failed;
  const live = await findLiveVersion(api, worker);
  if (live === before) return "The Worker is unchanged: nothing has to be rolled back.";
  if (before === null) return "There is no earlier version. Correct the cause and deploy again.";
  const command = ["rollback", before, "--message", "A deployment failed", "--yes"];
  if (isAutomatic && (await runWrangler(config, command))) {
    return `It was rolled back. Version ${before} serves requests.`;
  }
  return (
    `Version ${live} serves requests. Roll back to the one before:\n\n` +
    `npx wrangler rollback ${before} --config ${config}`
  );
}

/** Runs Wrangler on this terminal. Returns true if it succeeds. */
function runWrangler(
  config: string,
  command: string[],
  onError?: (text: string) => void,
): Promise<boolean> {
  return runNode(deploymentArgs(config, ...command), onError);
}

/** Runs a program with Node on this terminal. Returns true if it succeeds. */
async function runNode(args: string[], onError?: (text: string) => void): Promise<boolean> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...wranglerEnv(join(process.cwd(), ".wrangler")) },
    stdio: ["ignore", "inherit", "pipe"],
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    process.stderr.write(text);
    onError?.(text);
  });
  const [code] = (await once(child, "close")) as [number | null];
  return code === 0;
}

function readArguments() {
  const options = {
    env: { type: "string" },
    url: { type: "string" },
    rollback: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  return withUsageErrors(() => parseArgs({ options })).values;
}

await runCommand(main, USAGE);
