import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";

/** The folder this project lives in. */
export const PROJECT = resolve(import.meta.dirname, "../..");

/** Where the local databases, objects, secrets and logs are: `STATE_DIR`, or a folder of our own. */
export function stateFolder(): string {
  return resolve(process.env["STATE_DIR"] || join(PROJECT, ".wrangler/sightline"));
}

/** Where the sample pack is kept once it is made. */
export function samplePackFolder(): string {
  return join(PROJECT, ".wrangler/sample-pack");
}

export interface LocalSecrets {
  /** `kid:base64url`, as `KEY_SECRETS`. */
  keySecrets: string;
  engineToken: string;
}

/** The env file that hands the secrets to the Worker. Only its owner may read it. */
export function secretsFile(folder: string): string {
  return join(folder, "secrets.env");
}

/** The secrets of a state folder, made with the folder where they are missing. */
export async function ensureSecrets(folder: string): Promise<LocalSecrets> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const fresh = {
    keySecrets: `local:${randomBytes(32).toString("base64url")}`,
    engineToken: randomBytes(24).toString("base64url"),
  };
  return (await readSecrets(folder)) ?? (await createSecrets(folder, fresh));
}

/** Tells the Worker where the engine is, and what the environment sets. */
export async function writeEngineUrl(folder: string, url: string): Promise<void> {
  await place(folder, formatSecrets(await ensureSecrets(folder), url), rename);
}

/** Changes `KEY_SECRETS` of a state folder; a Worker that runs learns of it when it is started again. */
export async function changeKeySecrets(
  folder: string,
  change: (keySecrets: string) => string,
): Promise<string> {
  const keySecrets = change((await ensureSecrets(folder)).keySecrets);
  const text = await readFile(secretsFile(folder), "utf8");
  await place(folder, text.replace(/^KEY_SECRETS=.*$/m, `KEY_SECRETS=${keySecrets}`), rename);
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

async function createSecrets(folder: string, fresh: LocalSecrets): Promise<LocalSecrets> {
  try {
    await place(folder, formatSecrets(fresh), link);
    return fresh;
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
    // Another command was first: its secrets count.
    return ensureSecrets(folder);
  }
}

/** Puts a whole file in place at once: `link` refuses to replace one, `rename` replaces it. */
async function place(folder: string, text: string, put: typeof link): Promise<void> {
  const partial = join(folder, `secrets.${process.pid}.${randomBytes(4).toString("hex")}`);
  try {
    await writeFile(partial, text, { mode: 0o600 });
    await put(partial, secretsFile(folder));
  } finally {
    await rm(partial, { force: true });
  }
}

/** What the environment sets of the Worker: docs/operate.md. */
const SETTINGS = [
  "FETCH_ALLOW",
  "PEERTUBE_URL",
  "YOUTUBE_API_URL",
  "YOUTUBE_API_KEY",
  "COBALT_URL",
  "COBALT_KEY",
  "FLICKR_API_URL",
  "FLICKR_API_KEY",
  "INSTAGRAM_API_URL",
  "INSTAGRAM_USER_ID",
  "INSTAGRAM_TOKEN",
];

function formatSecrets(secrets: LocalSecrets, engineUrl?: string): string {
  const lines = [`KEY_SECRETS=${secrets.keySecrets}`, `ENGINE_TOKEN=${secrets.engineToken}`];
  if (engineUrl) {
    lines.push(`ENGINE_URL=${engineUrl}`);
    lines.push(`PICTURE_EMBEDDINGS_URL=${engineUrl}/v1/embeddings`);
    lines.push(`PICTURE_EMBEDDINGS_KEY=${secrets.engineToken}`);
    lines.push(`DECODER_URL=${engineUrl}`, `DECODER_KEY=${secrets.engineToken}`);
  }
  for (const name of SETTINGS) {
    const value = process.env[name];
    if (value) lines.push(`${name}='${value}'`);
  }
  return lines.map((line) => `${line}\n`).join("");
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
