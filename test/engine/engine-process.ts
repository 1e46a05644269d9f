import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const SERVER = fileURLToPath(new URL("../../local/engine/server.ts", import.meta.url));
export const TOKEN = "engine-test-token";

export interface Engine {
  pid: number;
  origin: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a POST with the valid token. */
  post(path: string, body: Uint8Array<ArrayBuffer> | string): Promise<Response>;
  /** Stops the process with `signal`; resolves to the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts an engine process on a free port, which computes each reply. `env` adds settings. */
export async function startEngine(
  env: Record<string, string> = {},
  server = SERVER,
): Promise<Engine> {
  const child = spawn(process.execPath, [server], {
    env: { ...process.env, ENGINE_REPLIES: "", ENGINE_PORT: "0", ENGINE_TOKEN: TOKEN, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([once(lines, "line"), exited]);
  const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(String(line))?.[0];
  if (!origin || !child.pid) throw new Error(`The engine did not start: ${String(line)}`);
  const authorization = `Bearer ${TOKEN}`;
  return {
    pid: child.pid,
    origin,
    fetch: (path, init) => fetch(origin + path, init),
    post: (path, body) =>
      fetch(origin + path, { method: "POST", headers: { authorization }, body }),
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      await exited;
      return child.exitCode;
    },
  };
}

/** Parses a JSON body as `T`, unchecked. */
export async function readJson<T>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

/** Returns the status and error code of an error response. */
export async function readError(response: Response): Promise<[number, string]> {
  const body = await readJson<{ error: { code: string; message: string } }>(response);
  return [response.status, body.error.code];
}
