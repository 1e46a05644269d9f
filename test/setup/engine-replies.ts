import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Lets all engines of a run share their replies: each file of the tests is analysed once. */
export function shareEngineReplies(): void {
  const folder = mkdtempSync(join(tmpdir(), "sightline-replies-"));
  process.env["ENGINE_REPLIES"] = folder; // for the processes that start engines
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
}
