import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const SERVER = fileURLToPath(new URL("../../local/engine/server.ts", import.meta.url));
export const TOKEN = "engine-test-token";

export interface Engine {
  pid: number;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** A POST with the right token. */
  post(path: string, body: Uint8Array<ArrayBuffer> | string): Promise<Response>;
  /** Ends it with `signal`; resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Without what whoever runs the tests has set up. */
const BARE = { LOCAL_LLM_URL: "", MODELS_DIR: "/nonexistent" };

/** A real engine process on a free port. `env` goes over the defaults. */
export async function startEngine(env: Record<string, string> = {}): Promise<Engine> {
  const child = spawn(process.execPath, [SERVER], {
    env: { ...process.env, ...BARE, ENGINE_PORT: "0", ENGINE_TOKEN: TOKEN, ...env },
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

/** The body as what the caller knows it to be. */
export async function readJson<T>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

/** Status and error code of a refusal. */
export async function readRefusal(response: Response): Promise<[number, string]> {
  const body = await readJson<{ error: { code: string; message: string } }>(response);
  return [response.status, body.error.code];
}
