import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DIFFERENCES } from "../../scripts/rehearse/differences.ts";
import { listAssumptions } from "../../scripts/smoke/assumptions.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";

interface Report {
  steps: { title: string; outcome: string; note: string }[];
  failed: number;
  differences: unknown[];
}

/** Runs a rehearsal; resolves with its report, and what it printed before. */
function runRehearsal(): Promise<{ report: Report | null; output: string }> {
  const script = join(PROJECT, "scripts/rehearse.ts");
  return new Promise((resolve) => {
    execFile(process.execPath, [script, "--json"], { maxBuffer: 1e8 }, (_, stdout, stderr) => {
      const last = stdout.trimEnd().split("\n").at(-1) ?? "";
      const report = last.startsWith("{") ? (JSON.parse(last) as Report) : null;
      resolve({ report, output: stdout + stderr });
    });
  });
}

it(
  "what docs/deploy.md deploys goes through the whole journey",
  { timeout: 1_800_000 },
  async () => {
    const { report, output } = await runRehearsal();
    expect(report, output).not.toBeNull();
    expect(report!.steps.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect(report!.failed).toBe(0);
    expect(report!.steps.at(-1)).toMatchObject({ title: "Log no uncaught exception" });
    expect(report!.differences).toEqual(DIFFERENCES);
  },
);

it.each(DIFFERENCES)("the smoke test checks in a deployment: $subject", ({ assumptions }) => {
  expect(assumptions.length).toBeGreaterThan(0);
  expect(listAssumptions()).toEqual(expect.arrayContaining([...assumptions]));
});
