import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { compareObservations, judge, type Observations } from "../../scripts/smoke/assumptions.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { withService } from "../../tools/service.ts";

/** Observations of deployments, written by `npm run smoke -- --record`. */
const RECORDED = join(PROJECT, "test/platform");

const folder = mkdtempSync(join(tmpdir(), "sightline-smoke-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const AS_ASSUMED: Observations = {
  boundaries: [0, 5, 11.04, 14.8],
  sceneTexts: ["Alpine Notebook", "", "HIGH\nPASTURES", ""],
  damagedImage: "unreadable_image",
  wideImage: "too_large",
  descriptionErrors: [],
  recognizedWords: 15,
  spokenWords: 17,
  vectorSeconds: 8,
  imageSimilarity: 0.999,
  largestSearch: 404,
  largeBody: { status: 413, byWorker: false },
};

const DIFFERENT: [keyof Observations, Partial<Observations>][] = [
  ["boundaries", { boundaries: [0, 5.6, 11, 15] }],
  ["boundaries", { boundaries: [0, 5, 11] }],
  ["sceneTexts", { sceneTexts: ["", "Alpine Notebook", "", "High pastures"] }],
  ["damagedImage", { damagedImage: "upstream_unavailable" }],
  ["wideImage", { wideImage: "ready" }],
  ["descriptionErrors", { descriptionErrors: ["model_output_unreadable"] }],
  ["recognizedWords", { recognizedWords: 3 }],
  ["vectorSeconds", { vectorSeconds: 90 }],
  ["vectorSeconds", { vectorSeconds: null }],
  ["imageSimilarity", { imageSimilarity: 0.9 }],
  ["largestSearch", { largestSearch: 500 }],
  ["largeBody", { largeBody: { status: 502, byWorker: false } }],
];

describe("an assumption about the platform", () => {
  it("holds if it was seen", () => {
    expect(judge(AS_ASSUMED).map(({ outcome }) => outcome)).toEqual(
      judge(AS_ASSUMED).map(() => "holds"),
    );
  });

  it.each(DIFFERENT)("doesn't hold for other %s: %j", (_, difference) => {
    const seen = { ...AS_ASSUMED, ...difference };
    const broken = judge(seen).filter(({ outcome }) => outcome !== "holds");
    expect(broken.map(({ outcome }) => outcome)).toEqual(["doesn't hold"]);
    expect(broken[0]!.remedy).not.toBe("");
    expect(compareObservations(AS_ASSUMED, seen)).toHaveLength(1);
    expect(compareObservations(seen, AS_ASSUMED)).toHaveLength(1);
  });

  it("isn't checked without a recogniser, an image model or a large body", () => {
    const seen = { ...AS_ASSUMED, recognizedWords: null, imageSimilarity: null, largeBody: null };
    const unchecked = judge(seen).filter(({ outcome }) => outcome === "not checked");
    expect(unchecked).toHaveLength(3);
    expect(compareObservations(AS_ASSUMED, seen)).toEqual([]);
  });
});

interface Outcome {
  status: number;
  stdout: string;
  stderr: string;
}

function runSmoke(...args: string[]): Promise<Outcome> {
  const script = join(PROJECT, "scripts/smoke.ts");
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, stdout, stderr) => {
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

describe("the smoke test", { timeout: 180_000 }, () => {
  it("passes on this machine, cleans up, and the stand-ins answer as recorded deployments", async () => {
    const { signal } = new AbortController();
    await withService({ log: () => {}, signal }, async ({ url, key, api }) => {
      const args = ["--url", url, "--key", key, "--large-body", "--json", "--record", folder];
      const { status, stdout, stderr } = await runSmoke(...args);
      expect({ status, stderr, stdout }).toMatchObject({ status: 0, stderr: "" });
      const report = JSON.parse(stdout.trim().split("\n").at(-1)!) as {
        steps: { outcome: string }[];
        cost_usd: number;
      };
      expect(report.steps.length).toBeGreaterThan(8);
      expect(report.cost_usd).toBeGreaterThan(0);
      expect(report.cost_usd).toBeLessThan(0.05);
      expect(await api.get("/index")).toMatchObject({ total: 0 });
    });
    const read = (path: string) =>
      (JSON.parse(readFileSync(path, "utf8")) as { observations: Observations }).observations;
    const local = read(join(folder, "observations.json"));
    const recorded = existsSync(RECORDED) ? readdirSync(RECORDED) : [];
    for (const file of recorded) {
      expect(compareObservations(read(join(RECORDED, file)), local)).toEqual([]);
    }
  });

  it.each<[string, string[], number, RegExp]>([
    ["a wrong key", ["--key", "wrong"], 1, /API key is not valid/],
    ["no key", [], 2, /--key KEY, or API_KEY/],
  ])("says what is wrong with %s", async (_, args, expectedStatus, message) => {
    const { signal } = new AbortController();
    await withService({ log: () => {}, signal }, async ({ url }) => {
      const { status, stderr } = await runSmoke("--url", url, ...args);
      expect({ status, stderr }).toMatchObject({ status: expectedStatus });
      expect(stderr).toMatch(message);
    });
  });

  it("says that nothing answers at a URL", async () => {
    const { status, stderr } = await runSmoke("--url", "http://127.0.0.1:9", "--key", "any");
    expect(status).toBe(1);
    expect(stderr).toContain("http://127.0.0.1:9 does not answer");
  });
});
