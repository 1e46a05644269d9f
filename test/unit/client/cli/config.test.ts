import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  chooseCredentials,
  configFolder,
  deleteLogin,
  readLogin,
  writeLogin,
} from "../../../../client/src/cli/config.ts";
import { uploadStateFile } from "../../../../client/src/upload-state.ts";

const folder = mkdtempSync(join(tmpdir(), "sightline-config-"));
afterAll(() => rmSync(folder, { recursive: true }));
const env = { XDG_CONFIG_HOME: folder };
const stored = { url: "https://a.example", api_key: "sl_stored" };

describe("the stored login", () => {
  it("is in a file that only its owner may read, until it is deleted", async () => {
    const file = await writeLogin(env, stored);
    expect(file).toBe(join(folder, "sightline", "config.json"));
    expect(statSync(file).mode % 0o1000).toBe(0o600);
    expect(await readLogin(env)).toEqual(stored);
    await deleteLogin(env);
    expect(await readLogin(env)).toBeNull();
  });

  it("replaces a file that others may read", async () => {
    const file = await writeLogin(env, stored);
    writeFileSync(file, "{}", { mode: 0o644 });
    await writeLogin(env, stored);
    expect(statSync(file).mode % 0o1000).toBe(0o600);
  });

  it.each(["", "{", "null", '{"url": 1}'])("that is damaged (%j) is refused", async (text) => {
    writeFileSync(await writeLogin(env, stored), text);
    await expect(readLogin(env)).rejects.toThrow("sightline login");
  });
});

describe("URL and key", () => {
  it.each([
    [undefined, {}, null, "http://127.0.0.1:8787", undefined],
    [undefined, {}, stored, "https://a.example", "sl_stored"],
    ["https://a.example/", {}, stored, "https://a.example", "sl_stored"],
    ["https://b.example", {}, stored, "https://b.example", undefined],
    [undefined, { SIGHTLINE_URL: "https://b.example" }, stored, "https://b.example", undefined],
    [undefined, { SIGHTLINE_API_KEY: "sl_env" }, stored, "https://a.example", "sl_env"],
    ["https://b.example", { SIGHTLINE_API_KEY: "sl_env" }, null, "https://b.example", "sl_env"],
  ])("of --url %s, %j and %j are %s and %s", (option, variables, login, url, apiKey) => {
    expect(chooseCredentials(option, variables, login)).toEqual({ url, apiKey });
  });
});

describe("the file of an upload's state", () => {
  const file = { path: "/a.mp4", bytes: 1, changedAt: 2 };
  const of = (change: Partial<typeof file>, index = "trip", url = "https://a.example") =>
    uploadStateFile(configFolder(env), url, index, { ...file, ...change });

  it("differs by service, index, path, size and time of change", () => {
    const files = [
      of({}),
      of({ path: "/b.mp4" }),
      of({ bytes: 2 }),
      of({ changedAt: 3 }),
      of({}, "other"),
      of({}, "trip", "https://b.example"),
    ];
    expect(new Set(files).size).toBe(files.length);
    expect(of({})).toBe(files[0]);
    expect(of({})).toContain(join(configFolder(env), "uploads"));
  });
});
