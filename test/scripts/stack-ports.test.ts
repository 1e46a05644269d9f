import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listOpenPorts } from "../../tools/processes.ts";
import { findFreePort } from "../../tools/stack/ports.ts";
import { type Stack, startStack } from "../../tools/stack/stack.ts";

/** Words in the command lines of all processes of the stack. */
const PROCESSES = ["workerd", "worker-process.ts", "engine/server.ts"];

let stateDir: string;
let stack: Stack;
let ports: number[];

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "sightline-ports-"));
  const [port, enginePort] = [await findFreePort(), await findFreePort()];
  stack = await startStack({ port, enginePort, stateDir, log: () => {} });
  ports = (await Promise.all(PROCESSES.map(listOpenPorts))).flat();
});

afterAll(async () => {
  await stack.stop();
  await rm(stateDir, { recursive: true, force: true });
});

it("the stack listens on the ports that it names, and on the runtime's", () => {
  const named = [stack.url, stack.engineUrl].map((url) => Number(new URL(url).port));
  expect(ports).toEqual(expect.arrayContaining(named));
  expect(new Set(ports).size).toBeGreaterThan(named.length);
});

it("no port of the stack speaks the inspector's protocol", async () => {
  for (const port of ports) {
    for (const path of ["/json", "/json/list", "/json/version"]) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(await response.text()).not.toContain("webSocketDebuggerUrl");
    }
  }
});

it("the public port hides the runtime's cron trigger and its store", async () => {
  for (const path of ["/cdn-cgi/local/scheduled", "/cdn-cgi/local/r2/public/sightline-media/x"]) {
    const response = await fetch(stack.url + path);
    expect([response.status, await response.text()]).toEqual([404, "There is nothing here.\n"]);
  }
});

it("the log of the Worker has no token of a media URL", async () => {
  await fetch(`${stack.url}/media/a-secret-token/film.mp4`);
  const readLog = () => readFile(join(stateDir, "logs/worker.log"), "utf8");
  await expect.poll(readLog).toContain("GET /media/…");
  expect(await readLog()).not.toContain("a-secret-token");
});
