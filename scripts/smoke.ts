import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { NotFoundError, Sightline } from "sightline";
import { ProgressBars } from "../tools/progress.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { type Column, formatRow, sanitizeLine, sanitizeText } from "../tools/terminal.ts";
import { runCommand, UsageError, withUsageErrors } from "./command-line.ts";
import { judge, type Observations, type Verdict } from "./smoke/assumptions.ts";
import { observeBindings } from "./smoke/bindings.ts";
import { observeEdge } from "./smoke/edge.ts";
import { type SmokeFiles, writeSmokeFiles } from "./smoke/files.ts";
import { Journey, runStep, type Step } from "./smoke/journey.ts";
import { withProbe } from "./smoke/probe-deployment.ts";

const USAGE = `Usage: npm run smoke -- --url URL [--key KEY] [options]

Takes a generated film of 20 seconds, a photo and a page through a running service: ingest, each
search, an answer, a traversal, deletion. Then says which assumptions about the platform hold. It
uses an index of its own, deletes it at the end, and costs less than 5 cents.

  --url URL         the service, such as https://sightline.example.workers.dev
  --key KEY         an API key with all scopes (default: API_KEY)
  --env NAME        the environment of the service, such as production: also deploys a Worker
                    beside it that tries its bindings, and removes it
  --without-speech  don't fail if there is no speech recogniser; implied for this machine
  --large-body      also send a body of 100 MB
  --record DIR      write what the platform answered to DIR/observations.json
  --json            print the report as one line of JSON at the end
  --help            print this help

Environment, with --env:
  CLOUDFLARE_API_TOKEN    a token with the permissions of docs/deploy.md
  DECODER_KEY             the key of the server at DECODER_URL, if there is one
  PROBE_URL               where the other Worker answers, if not on workers.dev

The exit code is 1 if a step fails, or an assumption that the service needs doesn't hold.
`;

/** A deletion looks for vectors that are left once Vectorize shows what it has deleted. */
const DELETION_MS = 15 * 60_000;
/** A step reports the first answer of the service, however long that takes. */
const CLIENT_OPTIONS = { maxRetries: 0, timeoutMs: 10 * 60_000 };
const COLUMNS: Column[] = [
  { title: "", width: 13 },
  { title: "", width: 100 },
];
/** Hosts of this machine, where a speech recogniser is an optional program. */
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

interface Report {
  steps: Step[];
  assumptions: Verdict[];
  cost_usd: number;
  seconds: number;
}

const interrupted = onInterrupt();

async function main(): Promise<void> {
  const values = readArguments();
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const service = requireService(values);
  const folder = await mkdtemp(join(tmpdir(), "sightline-smoke-"));
  try {
    const { report, observations } = await run(service, folder);
    if (values.record !== undefined) await record(values.record, observations);
    print(report);
    if (values.json) console.log(sanitizeText(JSON.stringify(report)));
    const isBroken =
      report.steps.some(({ outcome }) => outcome === "failed") ||
      report.assumptions.some(({ outcome, essential }) => {
        return essential && outcome === "doesn't hold";
      });
    if (isBroken) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(
  { url, key, environment, needsSpeech, sendsLargeBody }: Service,
  folder: string,
) {
  const startedAt = Date.now();
  const sightline = new Sightline({ url, apiKey: key, signal: interrupted, ...CLIENT_OPTIONS });
  const costBefore = await readCost(sightline);
  const index = `smoke-${randomUUID()}`;
  const files = await writeSmokeFiles(folder);
  const steps: Step[] = [];
  const onStep = (step: Step) => {
    steps.push(step);
    printStep(step);
  };
  const bars = process.stderr.isTTY ? new ProgressBars(process.stderr) : null;
  const journey = new Journey(sightline, index, files, { onStep, bars, needsSpeech });
  const observations: Observations = { journey: null, bindings: null, edge: null };
  console.log(`Index ${index} at ${url}\n`);
  try {
    await sightline.indices.create({ index_name: index });
    observations.bindings = environment ? await observe(environment, files, onStep) : null;
    observations.journey = await journey.run();
    const observed = { url, key, index, sendsLargeBody, signal: interrupted };
    observations.edge = await observeEdge(sightline, observed);
  } finally {
    // Also after Ctrl-C, which has ended the other connection.
    const signal = AbortSignal.timeout(DELETION_MS);
    await deleteIndex(new Sightline({ url, apiKey: key, signal }), index, onStep);
  }
  const report: Report = {
    steps,
    assumptions: judge(observations),
    cost_usd: (await readCost(sightline)) - costBefore,
    seconds: (Date.now() - startedAt) / 1000,
  };
  return { report, observations };
}

/** Has the probe try the bindings. Returns null if that fails. */
async function observe(environment: string, files: SmokeFiles, onStep: (step: Step) => void) {
  const work = async () => {
    const value = await withProbe(environment, interrupted, (ask) => observeBindings(ask, files));
    const sizeOf = value.sheet.value?.sizeOf;
    const sheets = sizeOf
      ? `FRAMES reads the size of a contact sheet as that of the ${sizeOf}; `
      : "";
    return { value, note: `${sheets}see below` };
  };
  return (await runStep("Observe the bindings", work, onStep)) ?? null;
}

/** Returns the estimated cost of the account's day in US dollars. */
async function readCost(sightline: Sightline): Promise<number> {
  return (await sightline.stats()).usage.today.estimated_cost_usd;
}

async function deleteIndex(
  sightline: Sightline,
  index: string,
  onStep: (step: Step) => void,
): Promise<void> {
  const work = async () => {
    try {
      const { job_id } = await sightline.indices.delete(index);
      await sightline.jobs.wait(job_id);
    } catch (error) {
      if (error instanceof NotFoundError) return { note: "nothing was created" };
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${reason} Delete the index ${index} yourself.`, { cause: error });
    }
    return { note: index };
  };
  await runStep("Delete everything", work, onStep);
}

/** Writes what the platform answered, without the service's address. */
async function record(folder: string, observations: Observations): Promise<void> {
  await mkdir(folder, { recursive: true });
  const recorded = { recorded_at: new Date().toISOString(), observations };
  await writeFile(join(folder, "observations.json"), `${JSON.stringify(recorded, null, 2)}\n`);
}

function printStep({ outcome, title, note }: Step): void {
  console.log(formatRow(COLUMNS, [outcome, `${title}: ${sanitizeLine(note)}`]));
}

function print({ assumptions, cost_usd, seconds }: Report): void {
  console.log("\nAssumptions about the platform\n");
  for (const { outcome, assumption, essential, seen, remedy } of assumptions) {
    console.log(formatRow(COLUMNS, [outcome, assumption]));
    if (outcome === "holds") continue;
    console.log(formatRow(COLUMNS, ["", `Seen: ${seen}`]));
    if (outcome === "not checked") continue;
    console.log(formatRow(COLUMNS, [essential ? "BROKEN" : "", remedy]));
  }
  console.log(`\nEstimated cost: $${cost_usd.toFixed(4)}, in ${seconds.toFixed(0)} s.`);
}

interface Service {
  url: string;
  key: string;
  /** Null if the bindings aren't tried. */
  environment: string | null;
  needsSpeech: boolean;
  sendsLargeBody: boolean;
}

function requireService(values: ReturnType<typeof readArguments>): Service {
  const key = values.key ?? process.env["API_KEY"];
  if (values.url === undefined) throw new UsageError("--url URL is missing.");
  if (!URL.canParse(values.url)) throw new UsageError(`${values.url} isn't a URL.`);
  if (!key) throw new UsageError("--key KEY, or API_KEY in the environment, is missing.");
  const { hostname } = new URL(values.url);
  return {
    // bounded: a setting of the operator's own
    url: values.url.replace(/\/+$/, ""),
    key,
    environment: values.env ?? null,
    needsSpeech: !values["without-speech"] && !LOOPBACK.has(hostname),
    sendsLargeBody: values["large-body"] === true,
  };
}

function readArguments() {
  const options = {
    url: { type: "string" },
    key: { type: "string" },
    env: { type: "string" },
    "without-speech": { type: "boolean" },
    "large-body": { type: "boolean" },
    record: { type: "string" },
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  return withUsageErrors(() => parseArgs({ options })).values;
}

await runCommand(main, USAGE);
