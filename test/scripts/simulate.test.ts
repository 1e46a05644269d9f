import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { MeasuredCapacity } from "../../tools/capacity/measured.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";

const simulate = (...args: string[]) =>
  spawnSync(process.execPath, ["scripts/simulate.ts", ...args], { cwd: PROJECT, encoding: "utf8" });

it("the simulation repeats the measured shards before it grows a deployment", () => {
  const { status, stdout } = simulate("--hours", "3000", "--indices", "1", "--json");
  expect(status).toBe(0);
  const { measured, simulated, grown } = JSON.parse(stdout);
  expect(simulated).toHaveLength(measured.length);
  expect(grown).toMatchObject([{ hours: 3000, indices: 1, pairs: 1, shards: 2, mostShards: 2 }]);
});

it("the simulation of many small indices opens a pair for every 200 of them", () => {
  const { stdout } = simulate("--hours", "2000", "--indices", "300", "--json");
  expect(JSON.parse(stdout).grown).toMatchObject([{ pairs: 2, mostShards: 1 }]);
});

it("the simulation fails if it doesn't come to the measured shards", () => {
  const measured = JSON.parse(
    readFileSync(join(PROJECT, "tools/capacity/measured.json"), "utf8"),
  ) as MeasuredCapacity;
  const file = join(mkdtempSync(join(tmpdir(), "sightline-simulate-")), "measured.json");
  writeFileSync(file, JSON.stringify({ ...measured, shards: measured.shards.slice(1) }));
  const { status, stderr } = simulate("--measured", file, "--hours", "10");
  expect(status).toBe(1);
  expect(stderr).toContain("doesn't reproduce");
});

it("the simulation names an option that is no positive number", () => {
  const { status, stderr } = simulate("--hours", "many");
  expect(status).toBe(1);
  expect(stderr).toContain('--hours takes positive integers, not "many".');
});
