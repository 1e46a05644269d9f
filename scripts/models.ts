import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { findModels, modelsFolder } from "../local/engine/found-models.ts";
import { type Column, formatRow } from "./demo/terminal.ts";
import { lockPull } from "./models/pull-lock.ts";
import { formatBytes, pullModel } from "./models/pull.ts";
import { type Model, modelBytes, readRegistry } from "./models/registry.ts";
import { checkFile, heldBytes, modelFolder, removeModel } from "./models/shelf.ts";
import { onInterrupt } from "./stack/interrupt.ts";
import { PROJECT } from "./stack/local-state.ts";

const USAGE = `Usage: npm run models -- list | pull NAME… | remove NAME…

Models that the offline engine uses when it finds them, from its next start on: the largest for
each ability. A pull goes on where an earlier one stopped, and every file is verified.

  --registry FILE   of another list of models (default local/models.json)
  --help            show this

Environment:
  MODELS_DIR        where they are kept (default local/models)
`;

const COLUMNS: Column[] = [
  { title: "NAME", width: 24 },
  { title: "FOR", width: 8 },
  { title: "SIZE", width: 9, align: "right" },
  { title: "LICENCE", width: 10 },
  { title: "HERE", width: 22 },
  { title: "WHAT", width: 72 },
];

/** A command line that can't be understood. */
class UsageError extends Error {}

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
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        registry: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function requireModel(registry: readonly Model[], name: string): Model {
  const model = registry.find((one) => one.name === name);
  if (model) return model;
  const all = registry.map((one) => one.name);
  const alike = all.filter((one) => one.includes(name) || name.includes(one));
  const names = (alike.length > 0 ? alike : all).join(", ");
  throw new UsageError(`There is no model "${name}". Did you mean one of: ${names}?`);
}

async function listModels(folder: string, registry: readonly Model[]): Promise<void> {
  const { speech, pictures, captions } = findModels(folder);
  const used = [speech && dirname(speech), pictures, captions];
  const row = (cells: string[]) => console.log(formatRow(COLUMNS, cells));
  console.log(`Models in ${folder}:\n`);
  row(COLUMNS.map(({ title }) => title));
  for (const model of registry) {
    const state = await describeState(folder, model);
    const use = used.includes(modelFolder(folder, model)) ? ", in use" : "";
    const { name, ability, licence, about } = model;
    row([name, ability, formatBytes(modelBytes(model)), licence, state + use, about]);
  }
  const own = used.flatMap((path) => (path === null ? [] : basename(path)));
  const others = own.filter((name) => !registry.some((model) => model.name === name));
  if (others.length > 0) console.log(`\nAlso in use, and not verified: ${others.join(", ")}`);
}

async function describeState(models: string, model: Model): Promise<string> {
  const folder = modelFolder(models, model);
  const states = await Promise.all(
    model.files.map((file) => checkFile(join(folder, file.path), file)),
  );
  if (states.includes("damaged")) return "damaged: pull again";
  if (states.every((state) => state === "whole")) return "whole";
  const share = (await heldBytes(folder, model.files)) / modelBytes(model);
  return share === 0 ? "–" : `${Math.floor(share * 100)} % pulled`;
}

async function remove(folder: string, model: Model): Promise<void> {
  const unlock = await lockPull(`${modelFolder(folder, model)}.lock`);
  try {
    const was = await removeModel(folder, model);
    console.log(was ? `${model.name} was removed.` : `${model.name} is not in ${folder}.`);
  } finally {
    await unlock();
  }
}

try {
  await main();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name === "AbortError") {
    process.stderr.write("Stopped. The next pull goes on from here.\n");
    process.exitCode = 130;
  } else {
    const isUsage = error instanceof UsageError;
    process.stderr.write(isUsage ? `${message}\n\n${USAGE}` : `${message}\n`);
    process.exitCode = isUsage ? 2 : 1;
  }
}
