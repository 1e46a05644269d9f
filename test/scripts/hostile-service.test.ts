import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../client/src/cli/commands.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { startHostileService } from "./hostile-responses.ts";

const document = JSON.parse(readFileSync(join(PROJECT, "openapi.json"), "utf8")) as object;

const root = mkdtempSync(join(tmpdir(), "sightline-hostile-"));
const image = join(root, "photo.jpg");
const captions = join(root, "film.srt");
const judged = join(root, "judged.csv");

/** Arguments of every command, by its name. */
const ARGUMENTS: Record<string, string[][]> = {
  login: [["--key", "k"]],
  logout: [[]],
  whoami: [[]],
  "index create": [["x"]],
  "index list": [[]],
  "index delete": [["x", "--yes"]],
  add: [[image], ["https://a.example/film.mp4"]],
  search: [["boat"], ["boat", "--links"], ["boat", "--index", "*"]],
  count: [[], ["boat", "--by", "label"]],
  ask: [["boat"], ["boat", "--index", "trip,own"]],
  judge: [[], [judged]],
  "watch add": [["boat"], ["--image", image]],
  "watch list": [[]],
  "watch preview": [["wat_1"], ["boat"]],
  "watch tail": [[]],
  "watch edit": [["wat_1", "--query", "boat"]],
  "watch pause": [["wat_1"]],
  "watch resume": [["wat_1"]],
  "watch remove": [["wat_1", "--yes"]],
  "transcript get": [["vid_1"], ["vid_1", "--format", "txt"], ["vid_1", "--format", "json"]],
  "transcript put": [["vid_1", captions]],
  import: [["playlist", "https://a.example/playlist"]],
  stats: [[]],
  traverse: [[], ["--repair"]],
  export: [
    ["csv", "boat"],
    ["edl", "boat"],
    ["otio", "boat"],
  ],
  "keys create": [["x"]],
  "keys list": [[]],
  "keys revoke": [["key_1"]],
  "jobs list": [[]],
  "jobs get": [["job_1"]],
  "jobs cancel": [["job_1"]],
  completion: [["bash"]],
};

let service: Awaited<ReturnType<typeof startHostileService>>;
let failing: Awaited<ReturnType<typeof startHostileService>>;

beforeAll(async () => {
  writeFileSync(image, Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]));
  writeFileSync(judged, "query,segment_id,relevant\nboat,seg_1,true\n");
  writeFileSync(captions, "1\n00:00:00,000 --> 00:00:01,000\nhello\n");
  service = await startHostileService(document);
  failing = await startHostileService(document, 409);
});
afterAll(async () => {
  await Promise.all([service.close(), failing.close()]);
  rmSync(root, { recursive: true });
});

/** Runs a command, and returns what it has written to stdout and to stderr. */
async function run(url: string, args: string[]): Promise<{ stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(PROJECT, "client/src/cli/main.ts"), ...args], {
    cwd: root,
    env: {
      ...process.env,
      XDG_CONFIG_HOME: join(root, "config"),
      XDG_STATE_HOME: join(root, "state"),
      SIGHTLINE_URL: url,
      SIGHTLINE_API_KEY: "k",
      SIGHTLINE_INDEX: "trip",
      FORCE_HYPERLINK: "",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  await once(child, "close");
  return { stdout, stderr };
}

/** Characters that no output has: controls but line breaks and tabs, and overrides of direction. */
const OBEYED = /(?![\n\t]|\r\n)\p{Cc}|[\u202A-\u202E]/u;

it("every command is among those that are run here", () => {
  expect(Object.keys(ARGUMENTS).toSorted()).toEqual(COMMANDS.map(({ name }) => name).toSorted());
});

describe.each(Object.entries(ARGUMENTS))("the command %s", (name, lists) => {
  const words = name.split(" ");

  it("prints nothing that a terminal obeys", async () => {
    for (const args of lists) {
      for (const more of [[], ["--json"]]) {
        const outcome = await run(service.url, [...words, ...args, ...more]);
        expect({ args, more, ...outcome }).toMatchObject({
          stdout: expect.not.stringMatching(OBEYED),
          stderr: expect.not.stringMatching(OBEYED),
        });
        expect(outcome.stdout + outcome.stderr).not.toBe("");
        expect(outcome.stderr).not.toMatch(/TypeError|Usage:|See: sightline/);
      }
      const { stdout, stderr } = await run(failing.url, [...words, ...args]);
      expect(stdout + stderr).not.toMatch(OBEYED);
    }
  });
});

describe("an export to a file", () => {
  it.each(["csv", "otio", "edl"])("of %s has nothing that a program obeys", async (format) => {
    const file = join(root, `out.${format}`);
    await run(service.url, ["export", format, "boat", "-o", file]);
    const text = readFileSync(file, "utf8");
    expect(text).not.toMatch(OBEYED);
    if (format === "csv") expect(text).not.toMatch(/(^|[;\t\n])[" ]*[=+@]/);
  });
});
