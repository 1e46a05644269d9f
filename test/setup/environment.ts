import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A test that uses one of these sets it. */
const CLEARED_SETTINGS = {
  LOCAL_LLM_URL: "",
  MODELS_DIR: "/nonexistent",
  POCKETSPHINX: "",
  SPEECH_SCRIPT: "",
};

/** Hides models and programs of this machine from tests and from the processes that they start. */
export function clearSettings(): void {
  Object.assign(process.env, CLEARED_SETTINGS);
}

/**
 * Lets the processes that tests start share work. Engines share their replies, so that each file of
 * the tests is analysed once. Services share a migrated database, and programs in Node compiled
 * code, so that they start sooner.
 */
export function shareWork(): void {
  const folder = mkdtempSync(join(tmpdir(), "sightline-shared-"));
  const { env } = process;
  for (const name of ["ENGINE_REPLIES", "MIGRATED_DATABASES", "NODE_COMPILE_CACHE"]) {
    env[name] = join(folder, name);
    mkdirSync(env[name]);
  }
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
}
