import { type ChildProcess, execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Verdict } from "../../scripts/smoke/assumptions.ts";
import { type Service, withService } from "../../tools/service.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";

const folder = mkdtempSync(join(tmpdir(), "sightline-smoke-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Outcome {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs the smoke test, which `onOutput` may interrupt. */
function runSmoke(
  args: string[],
  onOutput: (stdout: string, child: ChildProcess) => void = () => {},
): Promise<Outcome> {
  const script = join(PROJECT, "scripts/smoke.ts");
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [script, ...args], (error, stdout, stderr) => {
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr });
    });
    child.stdout?.on("data", (text: string) => onOutput(text, child));
  });
}

const withStack = (test: (service: Service) => Promise<void>) =>
  withService({ log: () => {}, signal: new AbortController().signal }, test);

describe("the smoke test", () => {
  it("passes on this machine, records what it saw, and cleans up", async () => {
    await withStack(async ({ url, key, sightline }) => {
      const args = ["--url", url, "--key", key, "--large-body", "--json", "--record", folder];
      const { status, stdout, stderr } = await runSmoke(args);
      expect({ status, stderr, stdout }).toMatchObject({ status: 0, stderr: "" });
      const report = JSON.parse(stdout.trim().split("\n").at(-1)!) as {
        steps: { outcome: string }[];
        assumptions: Verdict[];
        cost_usd: number;
      };
      expect(report.steps.length).toBeGreaterThan(8);
      const unheld = report.assumptions.filter(({ outcome }) => outcome === "doesn't hold");
      expect(unheld).toEqual([]);
      expect(report.cost_usd).toBeGreaterThan(0);
      expect(report.cost_usd).toBeLessThan(0.05);
      expect(await sightline.indices.list()).toMatchObject({ total: 0 });
    });
    const recordedHere = join(folder, "observations.json");
    expect(readFileSync(recordedHere, "utf8")).not.toContain("127.0.0.1");
  });

  it("fails for a wrong key, and cleans up after Ctrl-C", async () => {
    await withStack(async ({ url, key, sightline }) => {
      const wrongKey = await runSmoke(["--url", url, "--key", "wrong"]);
      expect(wrongKey.status).toBe(1);
      expect(wrongKey.stderr).toMatch(/API key is not valid/);
      const interrupted = await runSmoke(["--url", url, "--key", key], (text, child) => {
        if (text.includes("Search by meaning")) child.kill("SIGINT");
      });
      expect(interrupted.status).toBe(1);
      expect(interrupted.stdout).toMatch(/ok +Delete everything/);
      expect(await sightline.indices.list()).toMatchObject({ total: 0 });
    });
  });

  it("says that the key is missing", async () => {
    const { status, stderr } = await runSmoke(["--url", "http://127.0.0.1:9"]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/--key KEY, or API_KEY/);
  });

  it("says that nothing answers at a URL", async () => {
    const { status, stderr } = await runSmoke(["--url", "http://127.0.0.1:9", "--key", "any"]);
    expect(status).toBe(1);
    expect(stderr).toContain("http://127.0.0.1:9 does not answer");
  });
});
