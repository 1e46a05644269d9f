import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createKeySecrets, listKids } from "../key-secrets.ts";
import { createResource, readAccount, readBindings, readDatabaseIds } from "./account.ts";
import type { CloudflareApi } from "./api.ts";
import { DECODER_BINDING, type DecoderChoice } from "./decoder-config.ts";
import {
  databaseIdsOf,
  type EnvironmentConfig,
  type EnvironmentFiles,
  isCurrent,
  readEnvironment,
  toEnvironmentConfig,
  writeEnvironment,
} from "./environment-config.ts";
import { type PlannedResource, planResources } from "./plan.ts";
import { describeResource, listResources, type ResourceOptions } from "./resources.ts";

export interface SetupOptions extends ResourceOptions {
  decoder?: DecoderChoice;
}

/** What setup does for an environment. */
export interface SetupPlan {
  files: EnvironmentFiles;
  /** What the file will have, but for ids of databases that are created first. */
  config: EnvironmentConfig;
  decoder: DecoderChoice;
  resources: PlannedResource[];
  /** What happens to the environment's file. */
  fileAction: "create" | "update" | "present";
  /** Path in the folder of the file that gets `KEY_SECRETS`. */
  secretsFile: string;
}

/**
 * Compares an environment with the account. Changes nothing. Throws if the file is lost of an
 * environment with a decoder: only the file has its image.
 */
export async function planSetup(
  api: CloudflareApi,
  folder: string,
  environment: string,
  options: SetupOptions,
): Promise<SetupPlan> {
  const { decoder } = options;
  const files = await readEnvironment(folder, environment);
  const named = toEnvironmentConfig(files, api.accountId, new Map());
  if (files.current === null && decoder === undefined) await requireNoDecoder(api, files, named);
  const wanted = listResources(named, options);
  const state = await readAccount(api, wanted);
  const resources = planResources(wanted, state);
  const config = toEnvironmentConfig(files, api.accountId, state.databases, decoder);
  const isDatabaseMissing = resources.some(
    ({ resource, action }) => resource.kind === "database" && action === "create",
  );
  const fileAction = files.current === null ? "create" : "update";
  return {
    files,
    config,
    decoder,
    resources,
    fileAction: !isDatabaseMissing && isCurrent(files, config) ? "present" : fileAction,
    secretsFile: `.wrangler/${named.name}.env`,
  };
}

async function requireNoDecoder(
  api: CloudflareApi,
  { file }: EnvironmentFiles,
  { name }: EnvironmentConfig,
): Promise<void> {
  const bindings = await readBindings(api, name);
  if (!bindings.some((binding) => binding.name === DECODER_BINDING.name)) return;
  throw new Error(
    `${name} has a decoder, but ${file}, which says how to make it, is missing. ` +
      "Say --decoder, --decoder-image NAME, or --no-decoder to remove it.",
  );
}

/** Returns one line per resource, and one for the environment's file. */
export function describePlan({ files, resources, fileAction }: SetupPlan): string {
  const lines = resources.map((planned) => {
    const line = formatAction(planned.action, describeResource(planned.resource));
    return planned.action === "differs" ? `${line}\n${" ".repeat(11)}${planned.problem}` : line;
  });
  return [...lines, formatAction(fileAction, files.file)].join("\n");
}

function formatAction(action: string, text: string): string {
  return `  ${action.padEnd(7)}  ${text}`;
}

/** Returns true if nothing is missing. */
export function isComplete({ resources, fileAction }: SetupPlan): boolean {
  return fileAction === "present" && resources.every(({ action }) => action === "present");
}

/** Returns true if a present resource can't be used. */
export function hasProblem({ resources }: SetupPlan): boolean {
  return resources.some(({ action }) => action === "differs");
}

/**
 * Creates what the plan says, in its order, and calls `onDone` after each step. Throws at the first
 * step that fails, with what remains. A new plan then continues there.
 */
export async function applyPlan(
  api: CloudflareApi,
  plan: SetupPlan,
  onDone: (line: string) => void,
): Promise<void> {
  const { files, decoder, resources, fileAction, secretsFile } = plan;
  const steps = resources
    .filter(({ action }) => action === "create")
    .map(({ resource }) => ({
      title: describeResource(resource),
      run: () =>
        createResource(api, resource, () =>
          ensureSecret(join(files.folder, secretsFile), resource.name),
        ),
    }));
  if (fileAction !== "present") {
    steps.push({ title: files.file, run: () => writeConfig(api, files, decoder) });
  }
  for (const [i, { title, run }] of steps.entries()) {
    try {
      await run();
    } catch (error) {
      const remaining = steps.slice(i + 1).map((step) => `\n  not done  ${step.title}`);
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(
        `  failed    ${title}${remaining.join("")}\n\n${reason}\n\n` +
          "Run the same command again: it continues with what is missing.",
        { cause: error },
      );
    }
    onDone(`  done      ${title}`);
  }
}

async function writeConfig(
  api: CloudflareApi,
  files: EnvironmentFiles,
  decoder: DecoderChoice,
): Promise<void> {
  const databaseIds = await readDatabaseIds(api);
  const config = toEnvironmentConfig(files, api.accountId, databaseIds, decoder);
  for (const name of databaseIdsOf(config).keys()) {
    if (!databaseIds.has(name))
      throw new Error(`Cloudflare doesn't list the database ${name} yet.`);
  }
  await writeEnvironment(files, config);
}

/**
 * Returns the value of a secret from its file. Creates both before the Worker gets the secret,
 * because a Worker doesn't return it.
 */
async function ensureSecret(file: string, name: string): Promise<string> {
  if (name !== "KEY_SECRETS") throw new Error(`Put ${name} with "npx wrangler secret put".`);
  try {
    const [, value = ""] = /^export KEY_SECRETS='(.*)'$/m.exec(await readFile(file, "utf8")) ?? [];
    listKids(value); // throws if the file was damaged
    return value;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  const value = createKeySecrets();
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `export KEY_SECRETS='${value}'\n`, { mode: 0o600, flag: "wx" });
  return value;
}
