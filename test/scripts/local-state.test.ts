import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { ensureSecrets, secretsFile, writeEngineUrl } from "../../tools/stack/local-state.ts";
import { findFreePort } from "../../tools/stack/ports.ts";
import { writeTinyClip } from "../engine/tiny-models.ts";

const root = mkdtempSync(join(tmpdir(), "sightline-state-"));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

const createFolder = () => mkdtempSync(join(root, "state-"));
const formatFile = (folder: string) => join(folder, "format");

describe("a state folder", () => {
  it("gets a format number and secrets that later commands reuse", async () => {
    const folder = createFolder();
    const secrets = await ensureSecrets(folder);
    expect(readFileSync(formatFile(folder), "utf8")).toBe("7\n");
    expect(statSync(join(folder, "secrets.env")).mode % 0o1000).toBe(0o600);
    expect(await ensureSecrets(folder)).toEqual(secrets);
  });

  it("gets the same secrets from simultaneous commands", async () => {
    const folder = createFolder();
    const all = await Promise.all(Array.from({ length: 8 }, () => ensureSecrets(folder)));
    expect(new Set(all.map(({ keySecrets }) => keySecrets)).size).toBe(1);
  });

  it.each<[string, (folder: string) => void]>([
    ["without a format number", (folder) => rmSync(formatFile(folder))],
    ["of format 1", (folder) => writeFileSync(formatFile(folder), "1\n")],
    ["of a later format", (folder) => writeFileSync(formatFile(folder), "99\n")],
  ])("%s stops dev and demo with one sentence", async (_, change) => {
    const folder = createFolder();
    await ensureSecrets(folder);
    change(folder);
    const env = {
      ...process.env,
      STATE_DIR: folder,
      PORT: String(await findFreePort()),
      ENGINE_PORT: String(await findFreePort()),
    };
    const photo = join(root, "photo.jpg");
    writeFileSync(photo, Buffer.from([0xff, 0xd8, 0xff, 0xe0]));
    for (const args of [["scripts/dev.ts"], ["scripts/demo.ts", photo]]) {
      const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
      expect(status).toBe(1);
      expect(stderr).toBe(
        `${folder} was made by another version of Sightline: delete it, or choose another folder ` +
          "with STATE_DIR.\n",
      );
    }
  });
});

describe("the settings that the engine gives the Worker", () => {
  /** Returns the model that decides whether scores are fitted (src/search/calibration.ts). */
  async function readImageModel(models: string): Promise<string | undefined> {
    vi.stubEnv("MODELS_DIR", models);
    const folder = createFolder();
    await writeEngineUrl(folder, "http://127.0.0.1:1");
    return parseEnv(readFileSync(secretsFile(folder), "utf8"))["IMAGE_EMBEDDINGS_MODEL"];
  }

  it("name no image model for the engine's own", async () => {
    expect(await readImageModel(createFolder())).toBeUndefined();
  });

  it("name a pulled image model", async () => {
    const models = createFolder();
    writeTinyClip(join(models, "tiny-clip"));
    expect(await readImageModel(models)).toBe("tiny-clip");
  });
});
