import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ensureSecrets } from "../../tools/stack/local-state.ts";
import { findFreePort } from "../../tools/stack/ports.ts";

const root = mkdtempSync(join(tmpdir(), "sightline-state-"));
afterAll(() => rmSync(root, { recursive: true }));

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
