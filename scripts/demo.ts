import { parseArgs } from "node:util";
import { createKey } from "../tools/stack/api-key.ts";
import { AuthenticationError, Sightline } from "sightline";
import { ingestFiles, type Ingested } from "../tools/ingest-files.ts";
import { deriveQueries, type DemoQuery } from "./demo/queries.ts";
import { reportAnswers, reportSearches } from "./demo/report.ts";
import { type DemoStack, openDemoStack } from "./demo/demo-stack.ts";
import { ANY_BODY_BYTES } from "../tools/stack/stack.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { samplePackFolder, stateFolder } from "../tools/stack/local-state.ts";
import { findMedia, type MediaFile } from "../tools/media-files.ts";
import { readPort } from "../tools/stack/ports.ts";
import { ProgressBars } from "../tools/progress.ts";
import { buildSamplePack } from "../tools/sample/pack.ts";
import { sanitizeLine } from "../tools/terminal.ts";

const USAGE = `Usage: npm run demo [-- [path…] [--keep]]

Makes videos and images searchable on this machine, and searches them.

  path     files, or folders with files (default: a small sample pack)
  --keep   leave the service running
  --help   show this

Environment: PORT, ENGINE_PORT and STATE_DIR, as for npm run dev.
`;

/** Files, queries and questions; missing queries are derived from the ingested contents. */
interface DemoPlan {
  files: MediaFile[];
  queries?: DemoQuery[];
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
    maxBodyBytes: ANY_BODY_BYTES,
    log: (line: string) => console.error(line),
    signal: interrupted,
  };
  // Checks the paths before anything starts, because a wrong path is the likeliest mistake.
  const fromPaths = positionals.length > 0 ? await planFiles(positionals) : null;
  console.log("Starting the service…");
  const planPromise = fromPaths ? Promise.resolve(fromPaths) : planSample();
  void Promise.allSettled([planPromise]); // prevents an unhandled rejection before the await below
  const stack = await openDemoStack(options, values.keep === true);
  try {
    const plan = await planPromise;
    console.log(`Sightline runs at ${stack.url} (${secondsSince(startedAt)} s).`);
    await runDemo(stack, plan, interrupted);
    console.log(`\nDone in ${secondsSince(startedAt)} s.`);
  } finally {
    await stack.close();
    if (values.keep || !interrupted.aborted) console.log(stack.closingNote);
  }
}

async function planSample(): Promise<DemoPlan> {
  const pack = await buildSamplePack(samplePackFolder());
  const queries = pack.searches.map(({ query, expectedFile, evidence }) => {
    return { text: query, expectedFile, evidence };
  });
  return { files: pack.files, queries, questions: pack.questions };
}

async function planFiles(paths: string[]): Promise<DemoPlan> {
  const { media, skipped } = await findMedia(paths);
  for (const path of skipped)
    console.log(`Skipping ${sanitizeLine(path)}: neither a video nor an image.`);
  if (media.length === 0) throw new Error("There is no video and no image among these files.");
  return { files: media };
}

async function runDemo(stack: DemoStack, plan: DemoPlan, interrupted: AbortSignal): Promise<void> {
  const key = await createKey(stack.keySecrets, { account: "local" });
  const sightline = new Sightline({ url: stack.url, apiKey: key, signal: interrupted });
  await sightline.init().catch((error: unknown) => {
    if (!(error instanceof AuthenticationError)) throw error;
    throw new Error(
      `${stack.url} rejects the key of this command: it runs with another STATE_DIR.`,
    );
  });
  const indexName = `demo-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}`;
  await sightline.indices.create({ index_name: indexName });
  const index = sightline.index(indexName);
  const count = plan.files.length;
  console.log(`Adding ${count} ${count === 1 ? "file" : "files"} to the index ${indexName}.\n`);

  const startedAt = Date.now();
  const outcomes = await ingestFiles(index, plan.files, new ProgressBars(process.stdout));
  console.log(`\n${formatSummary(outcomes, (Date.now() - startedAt) / 1000)}`);
  requireSuccess(outcomes, plan);

  const { queries, questions } = plan.queries ? plan : await deriveQueries(index);
  if (!queries?.length) console.log("\nThese files have no text, speech or labels to search for.");
  const misses = await reportSearches(index, queries ?? []);
  await reportAnswers(index, questions ?? []);
  if (misses.length > 0) throw new Error(`\n${misses.join("\n")}`);
}

function formatSummary(outcomes: Ingested[], elapsedSeconds: number): string {
  const failed = outcomes.filter(({ state }) => state === "failed");
  const videoSeconds = outcomes.reduce((sum, { seconds }) => sum + seconds, 0);
  const speed = videoSeconds > 0 ? `, with ${videoSeconds.toFixed(0)} s of video` : "";
  const lines = [
    `${outcomes.length - failed.length} ready in ${elapsedSeconds.toFixed(1)} s${speed}.`,
  ];
  if (failed.length > 0) lines.push(`${failed.length} failed:`);
  for (const { name, code } of failed) lines.push(`  ${sanitizeLine(name)}: ${code}`);
  const warnings = new Map(outcomes.flatMap((one) => one.warnings).map((one) => [one.code, one]));
  for (const { code, message } of warnings.values())
    lines.push(`  ${code}: ${sanitizeLine(message)}`);
  if (lines.length > 1) lines.push("docs/ingest-errors.md says what to do about it.");
  return lines.join("\n");
}

/** Throws if a file of the sample pack failed, or if all of the given files failed. */
function requireSuccess(outcomes: Ingested[], { queries }: DemoPlan): void {
  const failed = outcomes.filter(({ state }) => state === "failed");
  if (queries && failed.length > 0)
    throw new Error("A file of the sample pack could not be ingested.");
  if (failed.length === outcomes.length) throw new Error("None of the files could be ingested.");
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
