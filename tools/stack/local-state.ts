import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { findModels } from "../../local/engine/installed-models.ts";

/** Layout of state folders. Increase it when stored names change without a migration. */
const STATE_FORMAT = "7";

/** Root folder of the project. */
export const PROJECT = resolve(import.meta.dirname, "../..");

/** Returns the folder of local databases, objects, secrets and logs: `STATE_DIR`, or a default. */
export function stateFolder(): string {
  return resolve(process.env["STATE_DIR"] || join(PROJECT, ".wrangler/sightline"));
}

export interface LocalSecrets {
  /** Signing secrets, `kid:base64url`, the format of `KEY_SECRETS`. */
  keySecrets: string;
  engineToken: string;
}

/** Returns the path of the env file with the Worker's secrets. Only its owner may read it. */
export function secretsFile(folder: string): string {
  return join(folder, "secrets.env");
}

/**
 * Returns the secrets of a state folder; creates folder, format file and secrets if they are
 * missing. Throws a readable error if another version of this project made the folder.
 */
export async function ensureSecrets(folder: string): Promise<LocalSecrets> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const newSecrets = {
    keySecrets: `local:${randomBytes(32).toString("base64url")}`,
    engineToken: randomBytes(24).toString("base64url"),
  };
  const secrets = (await readSecrets(folder)) ?? (await createSecrets(folder, newSecrets));
  await requireCurrentFormat(folder);
  return secrets;
}

/** Writes the engine's URL and the settings of the environment to the Worker's env file. */
export async function writeEngineUrl(folder: string, url: string): Promise<void> {
  const text = formatSecrets(await ensureSecrets(folder), url);
  await writeAtomically(secretsFile(folder), text, rename);
}

/** Changes `KEY_SECRETS` of a state folder. A running Worker uses the new value after a restart. */
export async function changeKeySecrets(
  folder: string,
  change: (keySecrets: string) => string,
): Promise<string> {
  const keySecrets = change((await ensureSecrets(folder)).keySecrets);
  const text = await readFile(secretsFile(folder), "utf8");
  const changed = text.replace(/^KEY_SECRETS=.*$/m, `KEY_SECRETS=${keySecrets}`);
  await writeAtomically(secretsFile(folder), changed, rename);
  return keySecrets;
}

async function readSecrets(folder: string): Promise<LocalSecrets | null> {
  const file = secretsFile(folder);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  }
  const { KEY_SECRETS: keySecrets, ENGINE_TOKEN: engineToken } = parseEnv(text);
  if (!keySecrets || !engineToken) {
    throw new Error(`${file} lacks KEY_SECRETS or ENGINE_TOKEN. Delete it to get new ones.`);
  }
  return { keySecrets, engineToken };
}

function formatFile(folder: string): string {
  return join(folder, "format");
}

async function requireCurrentFormat(folder: string): Promise<void> {
  const format = await readFile(formatFile(folder), "utf8").catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return "";
    throw error;
  });
  if (format.trim() === STATE_FORMAT) return;
  throw new Error(
    `${folder} was made by another version of Sightline: delete it, or choose another folder with ` +
      "STATE_DIR.",
  );
}

/** Creates the format file before the secrets, so that a folder with secrets has a format. */
async function createSecrets(folder: string, newSecrets: LocalSecrets): Promise<LocalSecrets> {
  await createFile(formatFile(folder), `${STATE_FORMAT}\n`);
  if (await createFile(secretsFile(folder), formatSecrets(newSecrets))) return newSecrets;
  return ensureSecrets(folder); // another process was first: its secrets are used
}

/** Creates a file; returns false if it exists. */
async function createFile(path: string, text: string): Promise<boolean> {
  try {
    await writeAtomically(path, text, link);
    return true;
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
    return false;
  }
}

/** Writes a file atomically: `link` fails if it exists, `rename` replaces it. */
async function writeAtomically(path: string, text: string, publish: typeof link): Promise<void> {
  const partial = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    await writeFile(partial, text, { mode: 0o600 });
    await publish(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}

/** Variables that are passed on to the Worker: docs/deploy.md#settings. */
const WORKER_VARIABLES = [
  "FETCH_ALLOW",
  "PEERTUBE_URL",
  "YOUTUBE_API_URL",
  "YOUTUBE_API_KEY",
  "COBALT_URL",
  "COBALT_KEY",
  "INSTAGRAM_API_URL",
  "INSTAGRAM_USER_ID",
  "INSTAGRAM_TOKEN",
];

function formatSecrets(secrets: LocalSecrets, engineUrl?: string): string {
  const lines = [`KEY_SECRETS=${secrets.keySecrets}`, `ENGINE_TOKEN=${secrets.engineToken}`];
  if (engineUrl) {
    lines.push(`ENGINE_URL=${engineUrl}`);
    lines.push(`IMAGE_EMBEDDINGS_URL=${engineUrl}/v1/embeddings`);
    lines.push(`IMAGE_EMBEDDINGS_KEY=${secrets.engineToken}`);
    const { embeddings } = findModels();
    if (embeddings !== null) lines.push(`IMAGE_EMBEDDINGS_MODEL='${basename(embeddings)}'`);
    lines.push(`DECODER_URL=${engineUrl}`, `DECODER_KEY=${secrets.engineToken}`);
  }
  for (const name of WORKER_VARIABLES) {
    const value = process.env[name];
    if (value) lines.push(`${name}='${value}'`);
  }
  return lines.map((line) => `${line}\n`).join("");
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
