import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Leash, startChild } from "../scripts/stack/child.ts";

/** A POST to a path of the engine with a JSON body; the JSON that it answers. */
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
      const response = await fetch(origin + path, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
        signal,
      });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as T;
    };
    return await Promise.race([measure(ask), failed]);
  } finally {
    await leash.end();
    await rm(folder, { recursive: true, force: true });
  }
}
