import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { findFreePort } from "../../tools/stack/ports.ts";

it("npx wrangler dev runs the service with the stand-ins until Ctrl-C", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sightline-wrangler-dev-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const child = spawn("npx", ["wrangler", "dev"], {
    cwd: PROJECT,
    detached: true,
    env: {
      ...process.env,
      PORT: `${await findFreePort()}`,
      ENGINE_PORT: `${await findFreePort()}`,
      STATE_DIR: join(folder, "state"),
      WRANGLER_SEND_METRICS: "false",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  let url: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    [, url] = /Sightline runs at (\S+)/.exec(line) ?? [];
    if (url !== undefined) break;
  }
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ ok: true });
  child.stdout.resume();
  process.kill(-child.pid!, "SIGINT"); // as a terminal does on Ctrl-C
  await exited;
  child.stdout.destroy();
  await expect.poll(() => fetch(`${url}/health`).catch(() => "gone")).toBe("gone");
});
