import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { AuthenticationError, ConflictError, Sightline, toIndexName } from "sightline";
import { commandLine, IS_PACKAGE } from "../local/engine/packages.ts";
import { ingestFiles, type Ingested } from "../tools/ingest-files.ts";
import { findMedia, type MediaFile } from "../tools/media-files.ts";
import { readTextOrEmpty } from "../tools/read-text.ts";
import { createKey, signInLink } from "../tools/stack/api-key.ts";
import { listCapabilities } from "../tools/stack/engine-health.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { stateFolder } from "../tools/stack/local-state.ts";
import { readPort } from "../tools/stack/ports.ts";
import { ANY_BODY_BYTES, isRunning, stackUrl } from "../tools/stack/stack.ts";
import { reportReady } from "../tools/stack/start-report.ts";
import { sanitizeText } from "../tools/terminal.ts";
import { CHAT_ADVICE, offerModels } from "./demo/better-models.ts";
import { type DemoStack, openDemoStack } from "./demo/demo-stack.ts";
import { formatSummary, readRemedies } from "./demo/ingest-summary.ts";
import { deriveQueries, type DemoQuery } from "./demo/queries.ts";
import { reportAnswers, reportSearches } from "./demo/report.ts";
import { formatSkipped } from "./demo/skipped-files.ts";

const USAGE = `Usage: ${commandLine("demo", "[path…] [--keep] [--models]")}

Makes videos and images searchable on this machine, and searches them. After Ctrl-C,
the same command continues: the index is named after the first path, what it has is
recognised by size and SHA-256, and large uploads resume. With better models, the same
files go to another index.

  path     files, or folders with files (default: ${IS_PACKAGE ? "none" : "a small sample pack"})
  --keep   leave the service running
  --models download better models first, without a question
  --help   show this

Environment: PORT, ENGINE_PORT and STATE_DIR, as for ${commandLine("dev")}.
`;

/** Files, queries and questions; missing queries are derived from the ingested contents. */
interface DemoPlan {
  files: MediaFile[];
  /** Paths that the index is named after; null for an index of this run only. */
  paths: string[] | null;
  queries?: DemoQuery[];
  questions?: string[];
}

async function main(interrupted: AbortSignal): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      keep: { type: "boolean" },
      models: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help || (IS_PACKAGE && positionals.length === 0)) {
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
    onReady: reportReady(startedAt, (line) => console.log(line)),
    signal: interrupted,
  };
  // Checks the paths before anything starts, because a wrong path is the likeliest mistake.
  if (positionals.length > 0) console.log("Looking for videos and images…");
  const fromPaths = positionals.length > 0 ? await planFiles(positionals) : null;
  const planPromise = fromPaths ? Promise.resolve(fromPaths) : planSample();
  void Promise.allSettled([planPromise]); // prevents an unhandled rejection before the await below
  if (!(await isRunning(stackUrl(options.port)))) {
    await offerModels(values.models === true, interrupted);
  }
  const stack = await openDemoStack(options, values.keep === true);
  const key = await createKey(stack.keySecrets, { account: "local", name: "demo" });
  try {
    const plan = await planPromise;
    console.log(`Sightline runs at ${stack.url} (${secondsSince(startedAt)} s).`);
    await runDemo(stack, key, plan, interrupted);
    console.log(`\nDone in ${secondsSince(startedAt)} s.`);
  } catch (error) {
    if (interrupted.aborted) console.log("\nStopped. The same command continues from here.");
    throw error;
  } finally {
    await stack.close();
    if (values.keep || !interrupted.aborted) console.log(stack.closingNote);
    if (values.keep) {
      console.log(`Its console, signed in: ${signInLink(stack.url, key)}`);
      console.log(`Key of the account "local": ${key}`);
    }
  }
}

async function planSample(): Promise<DemoPlan> {
  const { buildSamplePack } = await import("../tools/sample/pack.ts");
  const pack = await buildSamplePack();
  const queries = pack.searches.map(({ query, expectedFile, evidence }) => {
    return { text: query, expectedFile, evidence };
  });
  return { files: pack.files, paths: null, queries, questions: pack.questions };
}

async function planFiles(paths: string[]): Promise<DemoPlan> {
  const { media, skipped } = await findMedia(paths);
  if (skipped.length > 0) console.log(sanitizeText(formatSkipped(skipped)));
  if (media.length === 0) throw new Error("There is no video and no image among these files.");
  return { files: media, paths };
}

async function runDemo(
  stack: DemoStack,
  key: string,
  plan: DemoPlan,
  interrupted: AbortSignal,
): Promise<void> {
  const sightline = new Sightline({ url: stack.url, apiKey: key, signal: interrupted });
  await sightline.init().catch((error: unknown) => {
    if (!(error instanceof AuthenticationError)) throw error;
    throw new Error(
      `${stack.url} rejects the key of this command: it runs with another STATE_DIR.`,
    );
  });
  const capabilities = await listCapabilities(stack.engineUrl);
  const indexName = await nameIndex(sightline, plan.paths, Object.values(capabilities));
  await sightline.indices.create({ index_name: indexName }).catch((error: unknown) => {
    if (!(error instanceof ConflictError)) throw error;
  });
  const index = sightline.index(indexName);
  const count = plan.files.length;
  console.log(`Adding ${count} ${count === 1 ? "file" : "files"} to the index ${indexName}.`);
  console.log(
    `Search what is ready while the rest is added, signed in:\n  ${signInLink(stack.url, key, indexName)}\n`,
  );

  const startedAt = Date.now();
  const outcomes = await ingestFiles(plan.files, {
    sightline,
    indexName,
    serviceUrl: stack.url,
    stateFolder: stateFolder(),
    output: process.stdout,
  });
  const elapsedSeconds = (Date.now() - startedAt) / 1000;
  const summary = formatSummary(outcomes, elapsedSeconds, await readRemedies());
  console.log(`\n${sanitizeText(summary)}`);
  requireSuccess(outcomes, plan);

  const { queries, questions } = plan.queries ? plan : await deriveQueries(index);
  if (!queries?.length) console.log("\nNothing in these files is certain enough for a search.");
  const misses = await reportSearches(index, queries ?? []);
  await reportAnswers(index, questions ?? []);
  if (capabilities["chat"]?.model == null) console.log(`\n${CHAT_ADVICE}`);
  if (misses.length > 0) throw new Error(`\n${misses.join("\n")}`);
}

/**
 * Names an index after the first path, and remembers the name for these paths and models: the same
 * files go to the same index until a better model is there. An index of the sample pack is named
 * after the time.
 */
async function nameIndex(
  sightline: Sightline,
  paths: string[] | null,
  models: { model: string | null }[],
): Promise<string> {
  if (paths === null) {
    return `demo-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}`;
  }
  const resolved = paths.map((path) => resolve(path));
  const parts = JSON.stringify([resolved.toSorted(), models.map(({ model }) => model)]);
  const id = createHash("sha256").update(parts).digest("hex");
  const file = join(stateFolder(), "demo-indices.json");
  const names = JSON.parse((await readTextOrEmpty(file)) || "{}") as Record<string, string>;
  if (names[id] !== undefined) return names[id];
  const taken = new Set(Object.values(names));
  for await (const index of sightline.indices.list()) taken.add(index.index_name);
  const first = toIndexName(basename(resolved[0]!));
  let name = first;
  for (let number = 2; taken.has(name); number++) name = `${first.slice(0, 60)}-${number}`;
  await writeFile(file, JSON.stringify({ ...names, [id]: name }));
  return name;
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
