import {
  copyFileSync,
  mkdirSync,
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
import { linkBuild, runScript, runWrangler, setUpCloudflare } from "./cloudflare-api.ts";

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
  instance_type: { vcpu: 2, memory_mib: 6144, disk_mb: 16_000 },
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
const OBJECTS = { type: "durable-object", storage: "sqlite" } as const;
const DELETED = { type: "durable-object", state: "deleted" } as const;
const CLASSES = { MediaIndex: OBJECTS, IndexDatabase: OBJECTS, ModelLimiter: OBJECTS };

describe("setup", () => {
  it("without --decoder writes no container", async () => {
    expect(await runSetup([])).toMatchObject({
      status: 0,
      stdout: expect.not.stringMatching("conta"),
    });
    const config = readConfig();
    expect(config).not.toHaveProperty("containers");
    expect(config.main).toBe("src/index.ts");
    expect(config.exports).toEqual(CLASSES);
  });

  it("with --decoder-image writes the container, its binding and its class", async () => {
    const { stdout, status } = await runSetup(["--decoder-image", IMAGE], WITHOUT_DOCKER);
    expect(status).toBe(0);
    expect(stdout).toContain(
      `up to 4 containers (${JSON.stringify(CONTAINER.instance_type)}) of ${IMAGE}.\n`,
    );
    const config = readConfig();
    expect(config).toMatchObject({ main: "src/with-decoder.ts", containers: [CONTAINER] });
    expect(config.durable_objects.bindings).toContainEqual({
      name: "DECODER",
      class_name: "Decoder",
    });
    expect(config.exports).toEqual({ ...CLASSES, Decoder: OBJECTS });
    expect(readFileSync(join(folder, "wrangler.toml"), "utf8")).not.toContain("containers]]");
  });

  it("leaves the container in later runs, with its type, and takes over its number", async () => {
    await runSetup(["--decoder-image", IMAGE]);
    const again = await runSetup([]);
    expect(again.stdout).toContain("Nothing is missing");
    const edited = readText()
      .replace('DECODER_INSTANCES = "4"', 'DECODER_INSTANCES = "9"')
      .replace("memory_mib = 6144", "memory_mib = 8192");
    writeFileSync(join(folder, FILE), edited);
    await runSetup([]);
    expect(readConfig().containers).toEqual([
      {
        ...CONTAINER,
        instance_type: { ...CONTAINER.instance_type, memory_mib: 8192 },
        max_instances: 9,
      },
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
  linkBuild(folder);
  await runSetup(["--decoder-image", IMAGE]);
  const command = ["deploy", "--dry-run", "--outdir", join(folder, "bundle")];
  const { stdout, stderr, status } = await runWrangler(cloudflare, folder, FILE, ...command);
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  expect(stdout).toMatch(/env\.DECODER \(Decoder\)/);
  expect(stdout).toContain(`sightline-staging-decoder (${IMAGE})`);
  expect(readFileSync(join(folder, "bundle/with-decoder.js"), "utf8")).toMatch(
    /export ?\{[^}]*\bDecoder\b/,
  );
});

describe("the classes in an environment's file", () => {
  const template: WorkerConfig = {
    main: "src/index.ts",
    vars: {},
    durable_objects: { bindings: [], code_update_strategy: { mode: "immediate" } },
    exports: CLASSES,
  };
  const tagged = (...tags: string[]) => ({
    durable_objects: template.durable_objects,
    main: template.main,
    vars: {},
    migrations: ["v1", ...tags].map((tag) => ({ tag })),
  });

  /** Runs setup with one choice after another, each on the file of the one before. */
  function follow(choices: DecoderChoice[], first: object | null = null): WorkerConfig {
    let current = first as WorkerConfig | null;
    for (const choice of choices) {
      const config: WorkerConfig = { ...current, ...template };
      current = withDecoder(config, current, choice);
    }
    return current!;
  }

  it.each<[title: string, choices: DecoderChoice[], decoder: object | undefined]>([
    ["have no decoder without one", [undefined], undefined],
    ["have the decoder's", [{ image: IMAGE }, undefined], OBJECTS],
    ["stay when the image changes", [{ image: IMAGE }, "dockerfile"], OBJECTS],
    ["delete the decoder's when it is removed", [{ image: IMAGE }, null, undefined], DELETED],
    ["have it again when it is added again", ["dockerfile", null, "dockerfile"], OBJECTS],
    ["delete a decoder that the file doesn't name", [null], DELETED],
  ])("%s", (_, choices, decoder) => {
    const { exports } = follow(choices);
    expect(exports).toEqual({ ...CLASSES, ...(decoder && { Decoder: decoder }) });
  });

  it("leave nothing else of a decoder that is removed", () => {
    const removed = follow(["dockerfile", null]);
    expect(removed).toEqual({ ...template, exports: { ...CLASSES, Decoder: DELETED } });
  });

  it.each<[title: string, file: object, decoder: object | undefined]>([
    ["without a decoder", tagged(), undefined],
    ["with one", { ...tagged("decoder-1"), containers: [CONTAINER] }, OBJECTS],
    ["that had one", tagged("decoder-1", "decoder-2"), DELETED],
  ])("replace the tags in a file of an earlier version %s", (_, file, decoder) => {
    const config = follow([undefined], file);
    expect(config).not.toHaveProperty("migrations");
    expect(config.exports).toEqual({ ...CLASSES, ...(decoder && { Decoder: decoder }) });
  });

  it("are updated at once by a deployment, with a decoder and without", () => {
    for (const choice of ["dockerfile", null] as const) {
      const { durable_objects: objects } = follow([choice]);
      expect(objects.code_update_strategy).toEqual({ mode: "immediate" });
    }
  });
});

describe("an environment whose file is lost", () => {
  const deployWith = async (...args: string[]) => {
    await runSetup(args);
    const { main } = readConfig();
    const names = Object.keys(main.includes("decoder") ? { ...CLASSES, Decoder: 0 } : CLASSES);
    mkdirSync(join(folder, "src"), { recursive: true });
    mkdirSync(join(folder, "console"), { recursive: true });
    writeFileSync(join(folder, "console/_headers"), "");
    linkBuild(folder);
    mkdirSync(join(folder, "migrations"), { recursive: true });
    const classes = names.map((name) => `export class ${name} extends DurableObject {}`);
    const header = 'import { DurableObject } from "cloudflare:workers";';
    const code = [header, ...classes, "export default { fetch() {} };"].join("\n");
    writeFileSync(join(folder, main), code);
    const rollout = ["deploy", "--containers-rollout", "none"]; // containers have another API
    return runWrangler(cloudflare, folder, FILE, ...rollout);
  };
  const decoder = () => cloudflare.account.workers.get("sightline-staging")!.classes.has("Decoder");

  it("is deployed again with its decoder or without it, as setup is told", async () => {
    const first = await deployWith("--decoder-image", IMAGE);
    expect([first.status, decoder()], first.stderr).toEqual([0, true]);
    rmSync(join(folder, FILE));
    const refused = await runSetup([]);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /has a decoder, but wrangler.staging.toml.* is missing. Say --decoder,/,
      ),
    ]);
    const again = await deployWith("--decoder-image", IMAGE);
    expect([again.status, decoder()], again.stderr).toEqual([0, true]);
    rmSync(join(folder, FILE));
    const removed = await deployWith("--no-decoder");
    expect([removed.status, decoder()], removed.stderr).toEqual([0, false]);
  });

  it("is deployed again if a version with tags made it", async () => {
    const account = cloudflare.account;
    await deployWith("--decoder-image", IMAGE);
    Object.assign(account.workers.get("sightline-staging")!, {
      hasExports: false,
      migrationTag: "decoder-1",
    });
    rmSync(join(folder, FILE));
    const again = await deployWith("--decoder-image", IMAGE);
    expect([again.status, decoder()], again.stderr).toEqual([0, true]);
  });
});
