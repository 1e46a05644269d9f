import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  type DecoderChoice,
  withDecoder,
  type WorkerConfig,
} from "../../scripts/cloudflare/decoder-config.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { runScript, runWrangler, setUpCloudflare } from "./cloudflare-api.ts";

const cloudflare = setUpCloudflare();
const root = mkdtempSync(join(tmpdir(), "sightline-decoder-"));
afterAll(() => rmSync(root, { recursive: true }));

const FILE = "wrangler.staging.toml";
const IMAGE = "docker.io/example/decoder:1";
/** A program that ends as Docker does with an engine, and one that ends as it does without. */
const [WITH_DOCKER, WITHOUT_DOCKER] = [0, 1].map((code) => {
  const program = join(root, `docker-${code}`);
  writeFileSync(program, `#!/bin/sh\nexit ${code}\n`, { mode: 0o755 });
  return { WRANGLER_DOCKER_BIN: program };
});
const CONTAINER = {
  class_name: "Decoder",
  image: IMAGE,
  instance_type: "standard-3",
  max_instances: 4,
};

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(root, "project-"));
  copyFileSync(join(PROJECT, "wrangler.toml"), join(folder, "wrangler.toml"));
});

const runSetup = (args: string[], env?: Record<string, string>) =>
  runScript(cloudflare, folder, ["setup", "--env", "staging", "--yes", ...args], env);
const readText = () => readFileSync(join(folder, FILE), "utf8");
const readConfig = (): WorkerConfig => JSON.parse(JSON.stringify(parse(readText())));
const tagsOf = ({ migrations }: WorkerConfig) => migrations.map(({ tag }) => tag);

describe("setup", () => {
  it("without --decoder writes no container", async () => {
    expect(await runSetup([])).toMatchObject({
      status: 0,
      stdout: expect.not.stringMatching("conta"),
    });
    const config = readConfig();
    expect(config).not.toHaveProperty("containers");
    expect(config.main).toBe("src/index.ts");
    expect(tagsOf(config)).toEqual(["v1"]);
  });

  it("with --decoder-image writes the container, its binding and its migration", async () => {
    const { stdout, status } = await runSetup(["--decoder-image", IMAGE], WITHOUT_DOCKER);
    expect(status).toBe(0);
    expect(stdout).toContain(`up to 4 containers ("standard-3") of ${IMAGE}.\n`);
    const config = readConfig();
    expect(config).toMatchObject({ main: "src/with-decoder.ts", containers: [CONTAINER] });
    expect(config.durable_objects.bindings).toContainEqual({
      name: "DECODER",
      class_name: "Decoder",
    });
    expect(config.migrations.at(-1)).toEqual({
      tag: "decoder-1",
      new_sqlite_classes: ["Decoder"],
    });
    expect(readFileSync(join(folder, "wrangler.toml"), "utf8")).not.toContain("containers]]");
  });

  it("leaves the container in later runs, with its type, and takes over its number", async () => {
    await runSetup(["--decoder-image", IMAGE]);
    const again = await runSetup([]);
    expect(again.stdout).toContain("Nothing is missing");
    const edited = readText()
      .replace('DECODER_INSTANCES = "4"', 'DECODER_INSTANCES = "9"')
      .replace('instance_type = "standard-3"', 'instance_type = "standard-4"');
    writeFileSync(join(folder, FILE), edited);
    await runSetup([]);
    expect(readConfig().containers).toEqual([
      { ...CONTAINER, instance_type: "standard-4", max_instances: 9 },
    ]);
  });

  it("with --decoder says whether Docker is there to build the image", async () => {
    const advice = "no Docker engine answers here";
    expect((await runSetup(["--decoder"], WITHOUT_DOCKER)).stdout).toContain(advice);
    expect(readConfig().containers).toEqual([
      { ...CONTAINER, image: "decoder/Dockerfile", image_build_context: "." },
    ]);
    expect((await runSetup(["--decoder"], WITH_DOCKER)).stdout).not.toContain(advice);
  });

  it.each([
    [["--decoder-image", "decoder"], "must have a registry and a tag"],
    [["--decoder-image", "docker.io/example/decoder"], "must have a registry and a tag"],
    [["--decoder-image", "https://docker.io/example/decoder:1"], "must have a registry and a tag"],
    [["--decoder", "--no-decoder"], "give one of them"],
  ])("refuses %j", async (args, message) => {
    const { stderr, status } = await runSetup(args);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

it("deploy stops before its first step if Docker is needed and isn't there", async () => {
  await runSetup(["--decoder"]);
  cloudflare.writes = [];
  const args: [string, ...string[]] = ["deploy", "--env", "staging"];
  const { stderr, status } = await runScript(cloudflare, folder, args, WITHOUT_DOCKER);
  expect([status, stderr]).toEqual([1, expect.stringContaining("no Docker engine answers here")]);
  expect(cloudflare.writes).toEqual([]);
});

it("Wrangler bundles a deployment with a published image, without Docker", async () => {
  for (const name of ["console", "migrations", "node_modules", "src", "tsconfig.json"]) {
    symlinkSync(join(PROJECT, name), join(folder, name));
  }
  await runSetup(["--decoder-image", IMAGE]);
  const command = ["deploy", "--dry-run", "--outdir", join(folder, "bundle")];
  const { stdout, stderr, status } = await runWrangler(cloudflare, folder, FILE, ...command);
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  expect(stdout).toMatch(/env\.DECODER \(Decoder\)/);
  expect(stdout).toContain(`sightline-staging-decoder (${IMAGE})`);
  expect(readFileSync(join(folder, "bundle/with-decoder.js"), "utf8")).toMatch(
    /export \{[^}]*\bDecoder\b/,
  );
});

describe("the migrations of an environment's file", () => {
  const config = (...tags: string[]): WorkerConfig => ({
    main: "src/index.ts",
    vars: {},
    durable_objects: { bindings: [] },
    migrations: tags.map((tag) => ({ tag })),
  });

  /** Runs setup with one choice after another, each on the file of the one before. */
  function follow(steps: [template: WorkerConfig, choice: DecoderChoice][]): WorkerConfig {
    let current: WorkerConfig | null = null;
    for (const [template, choice] of steps) {
      const config: WorkerConfig = Object.assign({}, current, template);
      current = withDecoder(config, current, choice);
    }
    return current!;
  }

  it.each<[title: string, steps: [WorkerConfig, DecoderChoice][], tags: string[]]>([
    ["are the template's without a decoder", [[config("v1", "v2"), undefined]], ["v1", "v2"]],
    ["end with the decoder's", [[config("v1"), { image: IMAGE }]], ["v1", "decoder-1"]],
    [
      "have a later one of the template after the decoder's",
      [
        [config("v1"), { image: IMAGE }],
        [config("v1", "v2"), undefined],
      ],
      ["v1", "decoder-1", "v2"],
    ],
    [
      "stay when the image changes",
      [
        [config("v1"), { image: IMAGE }],
        [config("v1"), "dockerfile"],
      ],
      ["v1", "decoder-1"],
    ],
    [
      "delete the decoder's class when it is removed, once",
      [
        [config("v1"), { image: IMAGE }],
        [config("v1"), null],
        [config("v1"), null],
      ],
      ["v1", "decoder-1", "decoder-2"],
    ],
    [
      "create the class again when it is added again",
      [
        [config("v1"), "dockerfile"],
        [config("v1"), null],
        [config("v1"), "dockerfile"],
      ],
      ["v1", "decoder-1", "decoder-2", "decoder-3"],
    ],
  ])("%s", (_, steps, tags) => {
    expect(tagsOf(follow(steps))).toEqual(tags);
  });

  it("leave nothing else of a decoder that is removed", () => {
    const template = config("v1");
    const removed = follow([
      [template, "dockerfile"],
      [template, null],
    ]);
    expect(removed).toEqual({ ...template, migrations: removed.migrations });
    expect(removed.migrations.at(-1)).toEqual({ tag: "decoder-2", deleted_classes: ["Decoder"] });
  });
});
