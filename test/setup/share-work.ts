import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Lets the processes that tests start share work. Engines share their replies, so that each file of
 * the tests is analysed once; programs in Node share compiled code, so that a script starts in a
 * third of the time.
 */
export function shareWork(): void {
  const folder = mkdtempSync(join(tmpdir(), "sightline-shared-"));
  const replies = join(folder, "replies");
  mkdirSync(replies);
  process.env["ENGINE_REPLIES"] = replies;
  process.env["NODE_COMPILE_CACHE"] = join(folder, "code");
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
}
