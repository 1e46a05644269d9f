import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { findModels, modelsFolder } from "../local/engine/installed-models.ts";
import { commandLine } from "../local/engine/packages.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { type Column, formatRow } from "../tools/terminal.ts";
import { runCommand, UsageError, withUsageErrors } from "./command-line.ts";
import { lockPull } from "./models/pull-lock.ts";
import { formatBytes, pullModel } from "./models/pull.ts";
import { type Model, modelBytes, readRegistry } from "./models/registry.ts";
import { checkFile, downloadedBytes, modelFolder, removeModel } from "./models/shelf.ts";

const USAGE = `Usage: ${commandLine("models", "list | pull NAME… | remove NAME…")}

Optional models of the offline engine. From its next start on, it uses the largest one for each
capability. A pull resumes an interrupted one, and every file is verified.

  --registry FILE   list of models (default local/models.json)
  --help            show this

Environment:
  MODELS_DIR        folder of the models (now ${modelsFolder()})
`;

const COLUMNS: Column[] = [
  { title: "NAME", width: 24 },
  { title: "FOR", width: 10 },
  { title: "SIZE", width: 9, align: "right" },
  { title: "LICENCE", width: 10 },
  { title: "HERE", width: 22 },
  { title: "WHAT", width: 72 },
];

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const [command, ...names] = positionals;
  const registry = await readRegistry(values.registry ?? join(PROJECT, "local/models.json"));
  const folder = modelsFolder();
  if (command === "list" && names.length === 0) return listModels(folder, registry);
  if (command !== "pull" && command !== "remove") {
    throw new UsageError('The commands are "list", "pull" and "remove".');
  }
  if (names.length === 0) throw new UsageError(`${command} takes the name of a model.`);
  const models = names.map((name) => requireModel(registry, name));
  const signal = onInterrupt();
  for (const model of models) {
    await (command === "pull" ? pullModel(folder, model, signal) : remove(folder, model));
  }
}

function readArguments() {
  const options = {
    registry: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  return withUsageErrors(() => parseArgs({ allowPositionals: true, options }));
}

function requireModel(registry: readonly Model[], name: string): Model {
  const model = registry.find((one) => one.name === name);
  if (model) return model;
  const all = registry.map((one) => one.name);
  const similar = all.filter((one) => one.includes(name) || name.includes(one));
  const names = (similar.length > 0 ? similar : all).join(", ");
  throw new UsageError(`There is no model "${name}". Did you mean one of: ${names}?`);
}

async function listModels(folder: string, registry: readonly Model[]): Promise<void> {
  const { speech, embeddings, captions } = findModels(folder);
  const usedFolders = [speech && dirname(speech), embeddings, captions];
  const printRow = (cells: string[]) => console.log(formatRow(COLUMNS, cells));
  console.log(`Models in ${folder}:\n`);
  printRow(COLUMNS.map(({ title }) => title));
  for (const model of registry) {
    const state = await describeState(folder, model);
    const use = usedFolders.includes(modelFolder(folder, model)) ? ", in use" : "";
    const { name, capability, licence, description } = model;
    printRow([name, capability, formatBytes(modelBytes(model)), licence, state + use, description]);
  }
  const usedNames = usedFolders.flatMap((path) => (path === null ? [] : basename(path)));
  const others = usedNames.filter((name) => !registry.some((model) => model.name === name));
  if (others.length > 0) console.log(`\nAlso in use, not verified: ${others.join(", ")}`);
}

async function describeState(models: string, model: Model): Promise<string> {
  const folder = modelFolder(models, model);
  const states = await Promise.all(
    model.files.map((file) => checkFile(join(folder, file.path), file)),
  );
  if (states.includes("damaged")) return "damaged: pull again";
  if (states.every((state) => state === "complete")) return "complete";
  const share = (await downloadedBytes(folder, model.files)) / modelBytes(model);
  return share === 0 ? "–" : `${Math.floor(share * 100)} % pulled`;
}

async function remove(folder: string, model: Model): Promise<void> {
  const unlock = await lockPull(`${modelFolder(folder, model)}.lock`);
  try {
    const wasRemoved = await removeModel(folder, model);
    console.log(wasRemoved ? `${model.name} was removed.` : `${model.name} is not in ${folder}.`);
  } finally {
    await unlock();
  }
}

/** Tells an interrupted pull from a failed one. */
async function runInterruptible(): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof Error && error.name === "AbortError")) throw error;
    process.stderr.write("Stopped. The next pull resumes from here.\n");
    process.exitCode = 130;
  }
}

await runCommand(runInterruptible, USAGE);
