import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { poll } from "../../tools/poll.ts";
import { type ProcessSupervisor, startChild } from "../../tools/stack/child.ts";
import { findFreePort, isPortOpen } from "../../tools/stack/ports.ts";
import { stackUrl } from "../../tools/stack/stack.ts";
import { SPEECH } from "../smoke/files.ts";

const READY_MS = 10 * 60_000;

/**
 * Starts the offline engine, which recognises the speech of the smoke test's film on every machine:
 * its words come from a script, their times from the audio. Resolves when the engine answers.
 */
export async function startEngine(
  supervisor: ProcessSupervisor,
  folder: string,
): Promise<{ url: string; token: string }> {
  const [port, token] = [await findFreePort(), randomBytes(24).toString("base64url")];
  const script = join(folder, "speech.txt");
  await writeFile(script, SPEECH.map(({ text }) => text).join("\n"));
  const engine = supervisor.supervise(
    startChild({
      name: "The engine",
      args: ["local/engine/server.ts"],
      env: {
        ENGINE_PORT: `${port}`,
        ENGINE_TOKEN: token,
        LOCAL_LLM_URL: "",
        SPEECH_SCRIPT: script,
      },
      logFile: join(folder, "engine.log"),
    }),
  );
  let end: string | null = null;
  void engine.ended.then((reason) => (end = reason));
  return poll(READY_MS, "The start of the engine", async () => {
    if (end !== null) throw new Error(end);
    return (await isPortOpen(port)) ? { url: stackUrl(port), token } : null;
  });
}
