import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Leash, startChild } from "../scripts/stack/child.ts";

/**
 * A call to a path of the engine: a GET without a body, else a POST of bytes as they are and of anything
 * else as JSON. The JSON that it answers; of other answers, the bytes.
 */
export type AskEngine = <T>(path: string, body: unknown) => Promise<T>;

/** Runs `measure` against an engine of its own, and ends it, whatever happens. */
export async function withEngine<T>(
  signal: AbortSignal,
  measure: (ask: AskEngine) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-bench-"));
  const token = randomBytes(16).toString("hex");
  const leash = new Leash();
  try {
    const started = Promise.withResolvers<string>();
    const engine = leash.hold(
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
    const ask: AskEngine = async <T>(path: string, body: unknown) => {
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
    return await Promise.race([measure(ask), failed]);
  } finally {
    await leash.end();
    await rm(folder, { recursive: true, force: true });
  }
}
