import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { IndexEvent, Watch } from "../../client/src/index.ts";
import { waitUntil } from "../support/wait.ts";
import { type CommandLineService, startCommandLineService } from "./command-line-service.ts";

let service: CommandLineService;

beforeAll(async () => {
  service = await startCommandLineService();
  await service.run(["login", "--key", service.key]);
  await service.run(["index", "create", "trip"]);
});

afterAll(() => service.stop());

/** Starts `watch tail`, waits until it follows the events, and returns how to end it. */
async function startTail(...args: string[]) {
  const { child, ended } = service.start(["watch", "tail", ...args]);
  let [stdout, stderr] = ["", ""];
  child.stdout!.on("data", (text: string) => (stdout += text));
  child.stderr!.on("data", (text: string) => (stderr += text));
  await waitUntil(() => stderr.includes("Following"));
  return async () => {
    await waitUntil(() => stdout.endsWith("\n"));
    child.kill("SIGINT");
    return ended;
  };
}

describe("in an empty index", () => {
  it("the list of watches says how to create one", async () => {
    const { stdout } = await service.run(["watch", "list"]);
    expect(stdout).toBe("There is no watch yet: sightline watch add <query>\n");
    expect(await service.runJson(["watch", "list"])).toEqual([{ watches: [], total: 0 }]);
  });

  it("a preview says that nothing matches", async () => {
    const { stdout, status } = await service.run(["watch", "preview", "glacier"]);
    expect(stdout).toBe("No match so far: nothing has a score of at least 0.9.\n");
    expect(status).toBe(0);
  });
});

describe("a watch", () => {
  let watch: Watch;

  beforeAll(async () => {
    const options = ["--min-probability", "0.5", "--mode", "speech"];
    const args = ["watch", "add", "glacier", "--name", "Ice", ...options];
    [watch] = (await service.runJson(args)) as [Watch];
  });

  it("is created with its options, and the command says what comes next", async () => {
    expect(watch).toMatchObject({
      name: "Ice",
      query: "glacier",
      modes: ["speech"],
      min_probability: 0.5,
      paused: false,
    });
    const options = ["--filter", '{"year": 2024}', "--paused", "--index", "trip"];
    const { stdout, stderr } = await service.run(["watch", "add", "boat", ...options]);
    const [, id] = /^Created the watch (wat_\w+) \(boat\), paused\.\n$/.exec(stdout)!;
    expect(stderr).toContain(`sightline watch preview ${id} --index trip\n`);
    expect(stderr).toContain(`sightline watch resume ${id} --index trip\n`);
  });

  it("is paused and resumed", async () => {
    const paused = await service.run(["watch", "pause", watch.watch_id]);
    expect(paused.stdout).toBe(`Paused the watch ${watch.watch_id} (Ice).\n`);
    const list = await service.run(["watch", "list"]);
    expect(list.stdout).toMatch(/^wat_\w+ {2}Ice {3}glacier \(speech\) .* 0 {2}paused$/m);
    const [resumed] = await service.runJson(["watch", "resume", watch.watch_id]);
    expect(resumed).toMatchObject({ watch_id: watch.watch_id, paused: false });
  });

  it("prints what matches while its tail runs, and what came after an event", async () => {
    const endAll = await startTail();
    const endOne = await startTail(watch.watch_id, "--json");
    expect(await service.run(["add", join(service.media, "story.mp4")])).toMatchObject({
      status: 0,
    });
    const all = await endAll();
    expect(all.stdout).toMatch(
      /^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}0\.\d\d {2}Ice +story\.mp4 +0:05–0:09 +speech: .*«glacier».*\n$/,
    );
    expect(all).toMatchObject({
      status: 130,
      stderr: "Following 2 watches of trip. Ctrl-C ends this.\n",
    });
    const event = JSON.parse((await endOne()).stdout) as IndexEvent;
    expect(event).toMatchObject({ type: "watch.matched", data: { watch_id: watch.watch_id } });
    const beginning = event.id.replace(/\d+$/, (digits) => "0".repeat(digits.length));
    const since = await (await startTail("--json", "--since", beginning))();
    expect(JSON.parse(since.stdout)).toEqual(event);
  });

  it("is previewed by its id, or by its query before it is created", async () => {
    const stored = await service.run(["watch", "preview", watch.watch_id]);
    expect(stored.stdout).toMatch(
      /^1 match so far, with a score of at least 0\.5\.\n\nadded \(UTC\) +matches\n2\d{3}-.* 1 {2}█+\n/,
    );
    expect(stored.stdout).toMatch(/\nBest matches:\n#.*\n1 {2}0\.\d{3} {2}story\.mp4 .*«glacier»/);
    expect(stored.stdout).toMatch(/\n +0\.5 +1 {2}\d+ %\n/);
    const args = ["watch", "preview", "glacier", "--mode", "speech", "--min-probability", "0.5"];
    const [preview] = await service.runJson(args);
    expect(preview).toMatchObject({ matches: 1, best: [{ title: "story.mp4" }] });
    const { stdout } = await service.run(["watch", "preview", "glacier", "--links"]);
    expect(stdout).toMatch(/^1 {2}http:\S+#t=5,/m);
  });

  it("is deleted only with --yes where nobody can be asked", async () => {
    const refused = await service.run(["watch", "remove", watch.watch_id]);
    expect(refused).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(/--yes/),
    });
    const { stdout } = await service.run(["watch", "remove", watch.watch_id, "--yes"]);
    expect(stdout).toBe(`Deleted the watch ${watch.watch_id}. The segments stay.\n`);
    const [list] = await service.runJson(["watch", "list"]);
    expect(list).toMatchObject({ total: 1 });
  });
});

describe("errors", () => {
  it.each([
    [["watch", "remove", "wat_x"], 3, "wat_x"],
    [["watch", "remove", "wat_x", "--yes"], 3, "wat_x"],
    [["watch", "pause", "wat_x"], 3, "wat_x"],
    [["watch", "preview", "wat_x"], 3, "wat_x"],
    [["watch", "tail", "wat_x"], 3, "wat_x"],
    [["watch", "tail", "--index", "nowhere"], 3, "nowhere"],
    [["watch", "add"], 2, "Give a query"],
    [["watch", "add", "?"], 2, "word or a number"],
    [["watch", "add", "boat", "--min-probability", "7"], 2, "min_probability: "],
    [["watch", "add", "boat", "--webhook", "https://10.0.0.1/x"], 2, "give a public one. (request"],
    [["watch", "add", "--similar-to", "seg_x"], 3, "seg_x"],
  ])("sightline %j ends with %i and one line on stderr: %s", async (args, code, text) => {
    const { status, stdout, stderr } = await service.run(args);
    expect({ status, stdout }).toEqual({ status: code, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(text);
  });

  it("sightline watch without a subcommand names them", async () => {
    const { status, stderr } = await service.run(["watch"]);
    expect(status).toBe(2);
    expect(stderr).toContain("sightline watch preview [<watch-id|query>]");
    const help = await service.run(["watch", "tail", "--help"]);
    expect(help.stdout).toContain("--since EVENT-ID");
  });
});
