import { parseArgs } from "node:util";
import { createKey } from "./stack/api-key.ts";
import { ApiError, openApi } from "./demo/api-client.ts";
import { ingestFiles, type Ingested } from "./demo/ingest.ts";
import { deriveQueries, type Query } from "./demo/queries.ts";
import { reportAnswers, reportSearches } from "./demo/report.ts";
import { type DemoStack, openDemoStack } from "./demo/own-stack.ts";
import { onInterrupt } from "./stack/interrupt.ts";
import { samplePackFolder, stateFolder } from "./stack/local-state.ts";
import { findMedia, type MediaFile } from "./demo/media-files.ts";
import { readPort } from "./stack/ports.ts";
import { ProgressBars } from "./demo/progress.ts";
import { buildSamplePack } from "./sample/pack.ts";
import { plain } from "./demo/terminal.ts";

const USAGE = `Usage: npm run demo [-- [path…] [--keep]]

Makes videos and pictures searchable on this machine, and searches them.

  path     files, or folders with files in them (default: a small sample pack)
  --keep   leave the service running
  --help   show this

Environment: PORT, ENGINE_PORT and STATE_DIR, as for npm run dev.
`;

/** What to ingest and what to ask of it; no queries where they follow from what is understood. */
interface Plan {
  files: MediaFile[];
  queries?: Query[];
  questions?: string[];
}

async function main(interrupted: AbortSignal): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { keep: { type: "boolean" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const startedAt = Date.now();
  const options = {
    port: readPort("PORT", 8787),
    enginePort: readPort("ENGINE_PORT", 8788),
    stateDir: stateFolder(),
    log: (line: string) => console.error(line),
    signal: interrupted,
  };
  // Before anything starts, because a wrong path is the likeliest mistake.
  const own = positionals.length > 0 ? await planOwn(positionals) : null;
  console.log("Starting the service…");
  const planned = own ? Promise.resolve(own) : planSample();
  void Promise.allSettled([planned]); // where it fails meanwhile, the await below says so
  const stack = await openDemoStack(options, values.keep === true);
  try {
    const plan = await planned;
    console.log(`Sightline runs at ${stack.url} (${secondsSince(startedAt)} s).`);
    await journey(stack, plan, interrupted);
    console.log(`\nDone in ${secondsSince(startedAt)} s.`);
  } finally {
    await stack.close();
    if (values.keep || !interrupted.aborted) console.log(stack.fate);
  }
}

async function planSample(): Promise<Plan> {
  const pack = await buildSamplePack(samplePackFolder());
  const queries = pack.searches.map(({ query, expect, why }) => ({ text: query, expect, why }));
  return { files: pack.files, queries, questions: pack.questions };
}

async function planOwn(paths: string[]): Promise<Plan> {
  const { media, skipped } = await findMedia(paths);
  for (const path of skipped)
    console.log(`Skipping ${plain(path)}: neither a video nor a picture.`);
  if (media.length === 0) throw new Error("There is no video and no picture among these files.");
  return { files: media };
}

async function journey(stack: DemoStack, plan: Plan, interrupted: AbortSignal): Promise<void> {
  const key = await createKey(stack.keySecrets, { account: "local" });
  const api = openApi(stack.url, key, interrupted);
  await api.post("/init", {}).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    throw new Error(`${stack.url} doesn't know our keys: it runs with another STATE_DIR.`);
  });
  const indexName = `demo-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}`;
  await api.post("/index", { index_name: indexName });
  console.log(
    `Adding ${plan.files.length} ${plan.files.length === 1 ? "file" : "files"} to the index ${indexName}.\n`,
  );

  const startedAt = Date.now();
  const ended = await ingestFiles(api, indexName, plan.files, new ProgressBars(process.stdout));
  console.log(`\n${summary(ended, (Date.now() - startedAt) / 1000)}`);
  requireEnough(ended, plan);

  const { queries, questions } = plan.queries ? plan : await deriveQueries(api, indexName);
  if (!queries?.length)
    console.log("\nNothing was understood in these files that can be searched.");
  const misses = await reportSearches(api, indexName, queries ?? []);
  await reportAnswers(api, indexName, questions ?? []);
  if (misses.length > 0) throw new Error(`\n${misses.join("\n")}`);
}

function summary(ended: Ingested[], took: number): string {
  const failed = ended.filter(({ state }) => state === "failed");
  const film = ended.reduce((sum, { seconds }) => sum + seconds, 0);
  const speed = film > 0 ? `, with ${film.toFixed(0)} s of video` : "";
  const lines = [`${ended.length - failed.length} ready in ${took.toFixed(1)} s${speed}.`];
  if (failed.length > 0) lines.push(`${failed.length} failed:`);
  for (const { name, code } of failed) lines.push(`  ${plain(name)}: ${code}`);
  const warnings = new Map(ended.flatMap((one) => one.warnings).map((one) => [one.code, one]));
  for (const { code, message } of warnings.values()) lines.push(`  ${code}: ${plain(message)}`);
  if (lines.length > 1) lines.push("docs/ingest-errors.md tells what to do about it.");
  return lines.join("\n");
}

/** The sample pack must be ready to the last file; of a person's own files, one is enough. */
function requireEnough(ended: Ingested[], { queries }: Plan): void {
  const failed = ended.filter(({ state }) => state === "failed");
  if (queries && failed.length > 0)
    throw new Error("A file of the sample pack could not be ingested.");
  if (failed.length === ended.length) throw new Error("None of the files could be ingested.");
}

function secondsSince(startedAt: number): string {
  return ((Date.now() - startedAt) / 1000).toFixed(1);
}

const interrupted = onInterrupt();
try {
  await main(interrupted);
} catch (error) {
  if (!interrupted.aborted) console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = interrupted.aborted ? 130 : 1;
}
