import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { type CalibrationEntry } from "../../src/search/fuse.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { embedConcepts } from "../support/concept-model.ts";
import { embedDrawing, embedDrawingText } from "../support/drawing-model.ts";
import { runScript, setUpCloudflare } from "./cloudflare-api.ts";

const FILE = "src/search/calibrations.json";
const IMAGE_MODEL = "@cf/test/drawings";
/** A model whose cosines are all above 0.6. */
const NARROW = { dimensions: MODELS.embedText.dimensions, common: 1.5, noise: 0.5 };

const cloudflare = setUpCloudflare();
const root = mkdtempSync(join(tmpdir(), "sightline-calibrate-"));
afterAll(() => rmSync(root, { recursive: true }));

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(root, "project-"));
  for (const path of ["wrangler.toml", FILE]) cpSync(join(PROJECT, path), join(folder, path));
  setImageModel("");
  const { models } = cloudflare.account;
  models.set(MODELS.embedText.id, ({ text }) => {
    return { data: (text as string[]).map((one) => embedConcepts(one, NARROW)) };
  });
  models.set(IMAGE_MODEL, async ({ input }) => {
    const items = input as ({ text: string } | { image: string })[];
    const embedItem = async (item: (typeof items)[number]) =>
      "text" in item ? embedDrawingText(item.text) : embedDrawing(item.image);
    const vectors = await Promise.all(items.map(embedItem));
    return { data: vectors.map((embedding, index) => ({ index, embedding })) };
  });
});

function setImageModel(model: string): void {
  const template = readFileSync(join(folder, "wrangler.toml"), "utf8");
  const config = template.replace(
    /^IMAGE_EMBEDDINGS_MODEL = ""/m,
    `IMAGE_EMBEDDINGS_MODEL = "${model}"`,
  );
  writeFileSync(join(folder, "wrangler.staging.toml"), config);
}

const runCalibrate = (args: string[], env?: Record<string, string>) =>
  runScript(cloudflare, folder, ["calibrate", "--env", "staging", ...args], env);
const readText = () => readFileSync(join(folder, FILE), "utf8");
const readEntries = (): CalibrationEntry[] => JSON.parse(readText());

/** Reads the errors that the command prints, of the present parameters and of fitted ones. */
function readErrors(stdout: string): number[] {
  const line = /([\d.]+) with the present parameters, ([\d.]+) with fitted ones/;
  return line.exec(stdout)?.slice(1).map(Number) ?? [];
}

describe("calibrate", () => {
  it("stores an entry for the models of a deployment, with a smaller calibration error", async () => {
    const before = readEntries();
    const { stdout, stderr, status } = await runCalibrate(["--yes"]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    const [borrowed = 0, fitted = 0] = readErrors(stdout);
    expect(borrowed).toBeGreaterThan(0.02);
    expect(fitted).toBeLessThan(0.8 * borrowed);
    const after = readEntries();
    expect(after.slice(0, -1)).toEqual(before);
    expect(after.at(-1)).toMatchObject({
      models: { text: MODELS.embedText.id, image: null },
      source: expect.stringContaining("generated scenes"),
      image: null,
    });
    expect(readdirSync(join(folder, "src/search"))).toEqual(["calibrations.json"]);
  });

  it("replaces the entry of the same models, and moves what image cosines say into their range", async () => {
    setImageModel(IMAGE_MODEL);
    const models = { text: MODELS.embedText.id, image: IMAGE_MODEL };
    const before = readEntries();
    const earlier = { ...before[0], models, source: "an earlier run" };
    writeFileSync(join(folder, FILE), JSON.stringify([...before, earlier]));
    const { stderr, status } = await runCalibrate(["--yes"]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    const entries = readEntries();
    expect(entries.slice(0, -1)).toEqual(before);
    const [first] = before;
    const { source, image, example, ...last } = entries.at(-1)!;
    expect(last.models).toEqual(models);
    expect(source).toContain("generated scenes");
    const signal = "image_similarity";
    for (const [fitted, offline] of [
      [image, first!.image],
      [example, first!.example],
    ] as const) {
      expect(fitted!.bias).toBe(offline!.bias);
      expect(fitted!.weights[signal]!.threshold).not.toBe(offline!.weights[signal]!.threshold);
    }
    expect(image!.weights.label_coverage).toEqual(first!.image!.weights.label_coverage);
    expect(example.weights.copy_similarity).toEqual(first!.example.weights.copy_similarity);
  });

  it("says what it costs and calls no model with --dry-run, or if nobody confirms", async () => {
    setImageModel(IMAGE_MODEL);
    const dryRun = await runCalibrate(["--dry-run"]);
    expect(dryRun.status).toBe(0);
    const [, usd] = /\d+ texts of about \d+ tokens, and \d+ drawings: at most \$(\d\.\d{4})\./.exec(
      dryRun.stdout,
    )!;
    expect(Number(usd)).toBeGreaterThan(0);
    expect(Number(usd)).toBeLessThan(1);
    const unconfirmed = await runCalibrate([]);
    expect(unconfirmed.status).toBe(1);
    expect(unconfirmed.stderr).toContain("--yes");
    expect(cloudflare.writes).toEqual([]);
  });

  it.each([
    ["a missing token", { CLOUDFLARE_API_TOKEN: "" }, "CLOUDFLARE_API_TOKEN is not set"],
    ["a wrong token", { CLOUDFLARE_API_TOKEN: "other" }, "it is wrong, expired or disabled"],
    ["no server", { CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:1" }, "can't be reached"],
  ])("says in words that there is %s", async (_, env, message) => {
    const text = readText();
    const { stderr, status } = await runCalibrate(["--yes"], env);
    expect(status).toBe(1);
    expect(stderr).toContain(message);
    expect(readText()).toBe(text);
  });

  it("names the permission that the token lacks", async () => {
    cloudflare.forbidden = /^ai\//;
    const { stderr } = await runCalibrate(["--yes"]);
    expect(stderr).toContain('The token lacks the permission "Workers AI: Read"');
  });

  it("stores nothing if a model fails on the way", async () => {
    const text = readText();
    cloudflare.fail = (_, number) => (number === 3 ? "refuse" : null);
    const { stderr, status } = await runCalibrate(["--yes"]);
    expect(status).toBe(1);
    expect(stderr).toContain(`The model ${MODELS.embedText.id}`);
    expect(stderr).toContain("The test makes this call fail");
    expect(stderr).toContain(`${FILE} is unchanged`);
    expect(readText()).toBe(text);
    expect(readdirSync(join(folder, "src/search"))).toEqual(["calibrations.json"]);
  });

  it("asks for setup if the environment has no file", async () => {
    rmSync(join(folder, "wrangler.staging.toml"));
    const { stderr, status } = await runCalibrate(["--yes"]);
    expect(status).toBe(1);
    expect(stderr).toContain("npm run setup -- --env staging");
  });
});
