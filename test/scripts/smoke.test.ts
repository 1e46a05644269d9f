import { type ChildProcess, execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  compareObservations,
  type JourneyFacts,
  judge,
  type Observations,
  type Verdict,
} from "../../scripts/smoke/assumptions.ts";
import type { BindingRecord } from "../../scripts/smoke/bindings.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { type Service, withService } from "../../tools/service.ts";

/** Observations of deployments, written by `npm run smoke -- --record`. */
const RECORDED = join(PROJECT, "test/platform");

const folder = mkdtempSync(join(tmpdir(), "sightline-smoke-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const JOURNEY: JourneyFacts = {
  boundaries: [0, 5, 11.04, 14.8],
  sceneTexts: ["Alpine Notebook", "", "HIGH\nPASTURES", ""],
  descriptionErrors: [],
  recognizedWords: 15,
  spokenWords: 17,
  vectorSeconds: 8,
  largestSearch: 404,
};

const refusedWith = (code: string, meaning: string) => ({ value: null, error: { code, meaning } });
const chatReply = (content: unknown) => ({
  value: { choices: [{ message: { role: "assistant", content } }] },
  error: null,
});
const JSON_REPLY = chatReply('{"caption": "A page."}');

const BINDINGS: BindingRecord = {
  contact_sheet: {
    value: { width: 192, height: 72, columns: 3, tile_lumas: [15, 43, 72, 100, 127, 156] },
    error: null,
  },
  frame: { value: { width: 320, height: 180, luma: 113 }, error: null },
  images: [
    { value: { format: "image/jpeg", width: 960, height: 540 }, error: null },
    refusedWith("9412", "unreadable_image"),
    refusedWith("9402", "too_large"),
  ],
  descriptions: [
    { form: "wrapped", ...JSON_REPLY },
    { form: "bare", ...refusedWith("5006", "model_request_rejected") },
  ],
  vectors: {
    value: { found_after_seconds: 3, cosine: 0.8, score: 0.7995, exact_score: 0.8 },
    error: null,
  },
  database: [
    { limit: "parameters", size: 100, error: null },
    { limit: "parameters", size: 101, error: { code: "D1_ERROR", meaning: "internal" } },
    { limit: "value_bytes", size: 2_000_000, error: null },
  ],
};

const AS_ASSUMED: Observations = {
  journey: JOURNEY,
  bindings: BINDINGS,
  largeBody: { status: 413, byWorker: false },
};

const withJourney = (journey: Partial<JourneyFacts>): Partial<Observations> => ({
  journey: { ...JOURNEY, ...journey },
});
const withBindings = (bindings: Partial<BindingRecord>): Partial<Observations> => ({
  bindings: { ...BINDINGS, ...bindings },
});
const withTiles = (...tileLumas: number[]): Partial<Observations> => {
  const value = { ...BINDINGS.contact_sheet!.value!, tile_lumas: tileLumas };
  return withBindings({ contact_sheet: { value, error: null } });
};
const withImage = (at: number, image: BindingRecord["images"][number]): Partial<Observations> =>
  withBindings({ images: BINDINGS.images.with(at, image) });
const withScore = (score: number): Partial<Observations> =>
  withBindings({ vectors: { value: { ...BINDINGS.vectors.value!, score }, error: null } });
const READ_IMAGE = BINDINGS.images[0]!;
const WITHOUT_PARAMETERS = BINDINGS.database.map((observed) => ({
  ...observed,
  error: { code: "D1_ERROR", meaning: "internal" },
}));

/** What is seen, the assumptions that it refutes, and whether the service needs one of them. */
const DIFFERENT: [seen: string, Partial<Observations>, refuted: RegExp[], isEssential: boolean][] =
  [
    ["a late cut", withJourney({ boundaries: [0, 5.6, 11, 15] }), [/Cuts/], true],
    ["a missing cut", withJourney({ boundaries: [0, 5, 11] }), [/Cuts/], true],
    ["texts of other scenes", withJourney({ sceneTexts: ["", "Alpine"] }), [/text of each/], true],
    ["tiles column by column", withTiles(15, 100, 43, 127, 72, 156), [/row by row/, /equal/], true],
    ["tiles from the middle of parts", withTiles(30, 58, 86, 114, 142, 170), [/equal/], false],
    ["a missing tile", withTiles(15, 43, 72, 100, 127), [/row by row/, /equal/], true],
    [
      "no contact sheet",
      withBindings({ contact_sheet: refusedWith("9401", "upstream_failed") }),
      [/row by row/, /equal/],
      true,
    ],
    [
      "another frame",
      withBindings({ frame: { value: { width: 320, height: 180, luma: 16 }, error: null } }),
      [/A frame/],
      true,
    ],
    ["an image that is refused", withImage(0, refusedWith("9523", "x")), [/format and size/], true],
    ["a damaged image's code", withImage(1, refusedWith("9599", "x")), [/cut off/], false],
    ["a damaged image that is read", withImage(1, READ_IMAGE), [/cut off/], false],
    ["a wide image that is read", withImage(2, READ_IMAGE), [/12,000/], false],
    ["no description", withJourney({ descriptionErrors: ["x"] }), [/describes a keyframe/], true],
    [
      "a reply that isn't JSON",
      withBindings({ descriptions: [{ form: "wrapped", ...chatReply("A page.") }] }),
      [/form of a request/],
      true,
    ],
    ["few words", withJourney({ recognizedWords: 3 }), [/Speech/], true],
    ["a slow vector", withJourney({ vectorSeconds: 90 }), [/within 60 s/], false],
    ["no vector", withJourney({ vectorSeconds: null }), [/within 60 s/], false],
    ["another score", withScore(0.7), [/cosine/], false],
    ["refused parameters", withBindings({ database: WITHOUT_PARAMETERS }), [/D1 takes/], true],
    ["a failed search", withJourney({ largestSearch: 500 }), [/largest search/], true],
    ["a large body's end", { largeBody: { status: 502, byWorker: false } }, [/100 MB/], false],
  ];

/** What is seen differently, though no assumption is refuted. */
const UNASSUMED: [seen: string, Partial<Observations>][] = [
  ["another code of a damaged image", withImage(1, refusedWith("9516", "unreadable_image"))],
  [
    "another shape of a reply",
    withBindings({
      descriptions: [
        { form: "wrapped", value: { response: { caption: "A page." } }, error: null },
        BINDINGS.descriptions[1]!,
      ],
    }),
  ],
  [
    "a form that is taken, too",
    withBindings({ descriptions: [BINDINGS.descriptions[0]!, { form: "bare", ...JSON_REPLY }] }),
  ],
  [
    "more parameters that are taken",
    withBindings({
      database: BINDINGS.database.map(({ limit, size }) => ({ limit, size, error: null })),
    }),
  ],
];

describe("an assumption about the platform", () => {
  it("holds if it was seen", () => {
    const outcomes = judge(AS_ASSUMED).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(outcomes.map(() => "holds"));
    expect(compareObservations(AS_ASSUMED, AS_ASSUMED)).toEqual([]);
  });

  it.each(DIFFERENT)("doesn't hold for %s", (_, difference, refuted, isEssential) => {
    const seen = { ...AS_ASSUMED, ...difference };
    const broken = judge(seen).filter(({ outcome }) => outcome !== "holds");
    expect(broken.map(({ outcome }) => outcome)).toEqual(refuted.map(() => "doesn't hold"));
    for (const [i, { assumption }] of broken.entries()) expect(assumption).toMatch(refuted[i]!);
    expect(broken.some(({ essential }) => essential)).toBe(isEssential);
    expect(compareObservations(AS_ASSUMED, seen)).not.toEqual([]);
    expect(compareObservations(seen, AS_ASSUMED)).not.toEqual([]);
  });

  it.each(UNASSUMED)("holds for %s, which is a difference to a recording", (_, difference) => {
    const seen = { ...AS_ASSUMED, ...difference };
    expect(judge(seen)).toEqual(
      judge(seen).map((verdict) => Object.assign(verdict, { outcome: "holds" })),
    );
    expect(compareObservations(AS_ASSUMED, seen)).toHaveLength(1);
  });

  it("isn't checked without a recogniser, a large body, the bindings or an ingest", () => {
    const countUnchecked = (difference: Partial<Observations>) => {
      const seen = { ...AS_ASSUMED, ...difference };
      expect(compareObservations(AS_ASSUMED, seen)).toEqual([]);
      return judge(seen).filter(({ outcome }) => outcome === "not checked").length;
    };
    expect(countUnchecked(withJourney({ recognizedWords: null }))).toBe(1);
    expect(countUnchecked({ largeBody: null })).toBe(1);
    const [bindings, journey] = [
      countUnchecked({ bindings: null }),
      countUnchecked({ journey: null }),
    ];
    expect(bindings + journey + 1).toBe(judge(AS_ASSUMED).length);
  });
});

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

const readRecord = (path: string) =>
  (JSON.parse(readFileSync(path, "utf8")) as { observations: Observations }).observations;

describe("the smoke test", { timeout: 180_000 }, () => {
  it("passes on this machine, cleans up, and the stand-ins answer as recorded deployments", async () => {
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
      const unheld = report.assumptions.filter(({ outcome }) => outcome !== "holds");
      // Speech, if this machine has no recogniser.
      expect(unheld.filter(({ assumption }) => !assumption.startsWith("Speech"))).toEqual([]);
      expect(report.cost_usd).toBeGreaterThan(0);
      expect(report.cost_usd).toBeLessThan(0.05);
      expect(await sightline.indices.list()).toMatchObject({ total: 0 });
    });
    const recordedHere = join(folder, "observations.json");
    expect(readFileSync(recordedHere, "utf8")).not.toContain("127.0.0.1");
    const local = readRecord(recordedHere);
    expect(compareObservations(local, local)).toEqual([]);
    for (const file of existsSync(RECORDED) ? readdirSync(RECORDED) : []) {
      expect(compareObservations(readRecord(join(RECORDED, file)), local)).toEqual([]);
    }
  });

  it("fails for a wrong key, and cleans up after Ctrl-C", async () => {
    await withStack(async ({ url, key, sightline }) => {
      const wrongKey = await runSmoke(["--url", url, "--key", "wrong"]);
      expect(wrongKey.status).toBe(1);
      expect(wrongKey.stderr).toMatch(/API key is not valid/);
      const interrupted = await runSmoke(["--url", url, "--key", key], (text, child) => {
        if (text.includes("Observe the bindings")) child.kill("SIGINT");
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
