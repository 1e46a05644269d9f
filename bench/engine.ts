import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessSupervisor, startChild } from "../tools/stack/child.ts";

/**
 * Calls a path of the engine: GET if `body` is null, else POST with bytes unchanged and anything
 * else as JSON. Resolves to the parsed JSON, or to the bytes of any other content type.
 */
export type RequestEngine = <T>(path: string, body: unknown) => Promise<T>;

/** Runs `measure` against a new engine process, which is stopped in every case. */
export async function withEngine<T>(
  signal: AbortSignal,
  measure: (request: RequestEngine) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-bench-"));
  const token = randomBytes(16).toString("hex");
  const supervisor = new ProcessSupervisor();
  try {
    const started = Promise.withResolvers<string>();
    const engine = supervisor.supervise(
      startChild({
        name: "The engine",
        args: ["local/engine/server.ts"],
        env: { ENGINE_PORT: "0", ENGINE_TOKEN: token },
        logFile: join(folder, "engine.log"),
        onLine: (line) => {
          const origin = /^engine on (\S+)$/.exec(line)?.[1];
          if (origin) started.resolve(origin);
        },
      }),
    );
    const failed = engine.ended.then((why): never => {
      throw new Error(why);
    });
    const origin = await Promise.race([started.promise, failed]);
    const request: RequestEngine = async <T>(path: string, body: unknown) => {
      const bytes = body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body);
      const response = await fetch(origin + path, {
        method: body === null ? "GET" : "POST",
        headers: { authorization: `Bearer ${token}` },
        body: body === null ? null : bytes,
        signal,
      });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      const isJson = response.headers.get("content-type") === "application/json";
      return (isJson ? await response.json() : Buffer.from(await response.arrayBuffer())) as T;
    };
    return await Promise.race([measure(request), failed]);
  } finally {
    await supervisor.stopAll();
    await rm(folder, { recursive: true, force: true });
  }
}
