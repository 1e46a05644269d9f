import { readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { isMissing, writePrivateFile } from "../private-file.ts";

/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What `sightline login` stores. The key is only sent to this URL. */
export interface StoredLogin {
  url: string;
  api_key: string;
}

export interface Credentials {
  url: string;
  /** Undefined if neither the environment nor the config file has a key for the URL. */
  apiKey: string | undefined;
}

export const DEFAULT_URL = "http://127.0.0.1:8787";

/** Returns the folder of the config file, below `$XDG_CONFIG_HOME` or `~/.config`. */
export function configFolder(env: Environment): string {
  return join(env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "sightline");
}

function configFile(env: Environment): string {
  return join(configFolder(env), "config.json");
}

/** Chooses URL and key: option, then environment, then config file, then the local service. */
export function chooseCredentials(
  urlOption: string | undefined,
  env: Environment,
  stored: StoredLogin | null,
): Credentials {
  const url = normalizeUrl(urlOption ?? (env["SIGHTLINE_URL"] || stored?.url || DEFAULT_URL));
  const storedKey = stored && normalizeUrl(stored.url) === url ? stored.api_key : undefined;
  return { url, apiKey: env["SIGHTLINE_API_KEY"] || storedKey };
}

/** Returns a URL without slashes at its end. */
export function normalizeUrl(url: string): string {
  // bounded: a setting of the user's own
  return url.trim().replace(/\/+$/, "");
}

/** Reads the stored login; null if there is none. Throws a readable error for a damaged file. */
export async function readLogin(env: Environment): Promise<StoredLogin | null> {
  const file = configFile(env);
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (text === null) return null;
  const login = parseLogin(text);
  if (!login) throw new Error(`${file} can't be read. Run \`sightline login\` to write it anew.`);
  return login;
}

function parseLogin(text: string): StoredLogin | null {
  try {
    const value: Partial<StoredLogin> | null = JSON.parse(text);
    if (typeof value?.url !== "string" || typeof value.api_key !== "string") return null;
    return { url: value.url, api_key: value.api_key };
  } catch {
    return null;
  }
}

/** Writes the login to a file that only its owner may read. Returns its path. */
export async function writeLogin(env: Environment, login: StoredLogin): Promise<string> {
  const file = configFile(env);
  await writePrivateFile(file, `${JSON.stringify(login, null, 2)}\n`);
  return file;
}

/** Deletes the stored login. */
export async function deleteLogin(env: Environment): Promise<void> {
  await rm(configFile(env), { force: true });
}
