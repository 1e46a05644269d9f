import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, createReadStream, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writePaddedVideo } from "../../bench/large-video.ts";
import { buildSamplePack } from "../../tools/sample/pack.ts";
import { createKey } from "../../tools/stack/api-key.ts";
import { samplePackFolder } from "../../tools/stack/local-state.ts";
import { findFreePort } from "../../tools/stack/ports.ts";
import { type Stack, startStack } from "../../tools/stack/stack.ts";

const folder = mkdtempSync(join(tmpdir(), "sightline-command-line-"));
const media = join(folder, "media");
const config = join(folder, "config", "sightline");
/** A file name of two hundred characters in several scripts. */
const UGLY_NAME = `${"動画🎬 וידאו ".repeat(8)}${"x".repeat(60)}.jpg`;

let stack: Stack;
let files: Server;
let key: string;

interface Outcome {
  stdout: string;
  stderr: string;
  status: number | null;
}

/** Starts `sightline` with a config folder of its own. */
function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["client/src/cli/main.ts", ...args], {
    env: {
      ...process.env,
      XDG_CONFIG_HOME: join(folder, "config"),
      SIGHTLINE_URL: stack.url,
      SIGHTLINE_INDEX: "trip",
      SIGHTLINE_API_KEY: "",
      FORCE_HYPERLINK: "",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then((): Outcome => {
    return { stdout, stderr, status: child.exitCode };
  });
  return { child, ended };
}

function run(args: string[], env: Record<string, string> = {}): Promise<Outcome> {
  return start(args, env).ended;
}

/** Runs a command with `--json` and parses the lines that it prints. */
async function runJson(args: string[]): Promise<any[]> {
  const { stdout, stderr, status } = await run([...args, "--json"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function request(path: string): Promise<any> {
  const response = await fetch(stack.url + path, { headers: { "X-API-Key": key } });
  return response.json();
}

let added: Outcome;

beforeAll(async () => {
  const pack = await buildSamplePack(samplePackFolder());
  const pathOf = (name: string) => join(samplePackFolder(), name);
  expect(pack.files.length).toBeGreaterThan(2);
  mkdirSync(join(media, "below"), { recursive: true });
  copyFileSync(pathOf("story.mp4"), join(media, "story.mp4"));
  copyFileSync(pathOf("story.srt"), join(media, "story.srt"));
  copyFileSync(pathOf("poster.jpg"), join(media, "below", UGLY_NAME));
  writeFileSync(join(media, "notes.md"), "neither a video nor an image");
  files = createServer((_request, response) => {
    createReadStream(pathOf("receipt.jpg")).pipe(response);
  }).listen(0, "127.0.0.1");
  await once(files, "listening");
  process.env["FETCH_ALLOW"] = fileUrl().slice("http://".length);
  const [port, enginePort] = [await findFreePort(), await findFreePort()];
  stack = await startStack({ port, enginePort, stateDir: join(folder, "state"), log: () => {} });
  key = await createKey(stack.keySecrets, { account: "Ada" });
  const login = await run(["login", "--key", key]);
  expect(login).toMatchObject({ status: 0, stderr: "" });
  added = await run(["add", media, "--create", "--metadata", '{"year": 2024}']);
}, 240_000);

afterAll(async () => {
  await stack.stop();
  files.close();
  rmSync(folder, { recursive: true });
});

function fileUrl(): string {
  const address = files.address();
  return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
}

describe("login", () => {
  it("stores the key where only its owner may read it, and the next commands use it", async () => {
    const file = join(config, "config.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ url: stack.url, api_key: key });
    expect(statSync(file).mode % 0o1000).toBe(0o600);
    const [account] = await runJson(["whoami"]);
    expect(account).toMatchObject({ name: "Ada", url: stack.url, scopes: expect.any(Array) });
  });

  it("with an unknown key fails with 4 and stores nothing", async () => {
    const env = { XDG_CONFIG_HOME: join(folder, "empty") };
    const { status, stdout, stderr } = await run(["login", "--key", `${key}x`], env);
    expect({ status, stdout }).toEqual({ status: 4, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+ \(request [\w-]+\)\n$/);
    expect(existsSync(env.XDG_CONFIG_HOME)).toBe(false);
  });

  it("is missing at another URL: the stored key isn't sent there", async () => {
    const { status, stderr } = await run(["stats", "--url", fileUrl()]);
    expect(status).toBe(4);
    expect(stderr).toContain("There is no API key for");
  });
});

describe("add", () => {
  it("uploads the videos and images of a folder with a line for each, and their transcripts", () => {
    expect(added.status).toBe(0);
    expect(added.stdout).toMatch(/^Added 2 files in /);
    expect(added.stderr).toMatch(/^story\.mp4 +✔ ready, 0:33, \d+ segments$/m);
    expect(added.stderr).toContain("Skipped 1 other file of the folders: notes.md");
    expect(added.stderr).not.toContain("\u001B");
  });

  it("uploads nothing twice, and says which asset has the bytes", async () => {
    const copy = join(folder, "copy.jpg");
    copyFileSync(join(media, "below", UGLY_NAME), copy);
    const outcomes = await runJson(["add", media, copy]);
    expect(outcomes).toHaveLength(3);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ duplicate: true, error: null });
    const [list] = await runJson(["index", "list"]);
    expect(list.indices).toMatchObject([{ counts: { videos: 1, images: 1 } }]);
  });

  it("has the service fetch a URL, and finds the bytes of another one in the index", async () => {
    const [first] = await runJson(["add", `${fileUrl()}/receipt.jpg`]);
    expect(first).toMatchObject({ state: "ready", duplicate: false });
    const [second] = await runJson(["add", `${fileUrl()}/copy.jpg`, "--type", "image"]);
    expect(second).toMatchObject({ state: "ready", duplicate: true, asset_id: first.asset_id });
  });

  it("lists what failed with the reason, ends with 1, and retries only that", async () => {
    const broken = join(folder, "broken.mp4");
    writeFileSync(broken, readFileSync(join(media, "story.mp4")).subarray(0, 3000));
    const notMedia = join(folder, "notes.mp4");
    writeFileSync(notMedia, "not a video");
    const { status, stdout } = await run(["add", broken, notMedia]);
    expect(status).toBe(1);
    expect(stdout).toContain("2 files failed:");
    expect(stdout).toContain(`${broken}\n    unreadable_container: `);
    expect(stdout).toContain(`${notMedia}\n    error: It is neither a video nor an image`);
    const before = await request("/index/trip/videos");
    expect((await run(["add", broken])).status).toBe(1);
    const after = await request("/index/trip/videos");
    expect(after.total).toBe(before.total);
  });

  it("continues an upload after Ctrl-C, and uploads it once", async () => {
    const large = join(folder, "large.mp4");
    await writePaddedVideo(join(samplePackFolder(), "slides.mp4"), large, 128_000_000);
    const { child, ended } = start(["add", large]);
    let upload: { upload_id: string; offset: number } | undefined;
    while (!upload?.offset) {
      upload = (await request("/index/trip/uploads")).uploads[0];
      await wait(10);
    }
    child.kill("SIGINT");
    const { status, stderr } = await ended;
    expect(status).toBe(130);
    expect(stderr).toContain("The same command continues");
    const path = `/index/trip/uploads/${upload.upload_id}`;
    const stopped = await request(path);
    expect(stopped).toMatchObject({ state: "open", length: 128_000_000 });
    expect(readdirSync(join(config, "uploads"))).toHaveLength(1);

    const [outcome] = await runJson(["add", large]);
    expect(outcome).toMatchObject({ state: "ready", duplicate: false });
    expect(await request(path)).toMatchObject({ state: "complete", asset_id: outcome.asset_id });
    expect(readdirSync(join(config, "uploads"))).toHaveLength(0);
    const [again] = await runJson(["add", large]);
    expect(again).toMatchObject({ duplicate: true, asset_id: outcome.asset_id });
  }, 120_000);
});

describe("search", () => {
  it("--json prints the service's result, and nothing else on stdout", async () => {
    const [result] = await runJson(["search", "glacier", "--top-k", "2"]);
    expect(result.segments[0]).toMatchObject({ rank: 1, title: "story.mp4" });
    expect(result.segments.length).toBeLessThanOrEqual(2);
  });

  it("prints a table with time and matching words, at most 100 columns wide", async () => {
    const { stdout } = await run(["search", "glacier", "--mode", "speech"]);
    expect(stdout).toMatch(/^#  score  title/);
    expect(stdout).toMatch(/1 {3}0\.\d\d {2}story\.mp4 .* \d:\d\d–\d:\d\d {2}speech: .*«glacier»/);
    expect(stdout).not.toMatch(/https?:|\u001B/);
  });

  it("prints links in words where the terminal takes them, and else only with --links", async () => {
    const linked = await run(["search", "glacier", "--top-k", "1"], { FORCE_HYPERLINK: "1" });
    expect(linked.stdout).toMatch(/\u001B\]8;;http:\S+#t=[\d.,]+\u001B\\play\u001B\]8;;\u001B\\/);
    const plain = await run(["search", "glacier", "--top-k", "1", "--links"]);
    expect(plain.stdout).toMatch(/^1 {2}http:\S+#t=[\d.,]+$/m);
  });

  it("finds by image and by metadata", async () => {
    const image = join(media, "below", UGLY_NAME);
    const [byImage] = await runJson(["search", "--image", image, "--top-k", "1"]);
    expect(byImage.segments[0]).toMatchObject({ asset_type: "image", score: expect.any(Number) });
    const [filtered] = await runJson(["search", "glacier", "--filter", '{"year": 1999}']);
    expect(filtered.segments).toEqual([]);
  });

  it("--open opens the moment with the given rank in the browser", async () => {
    const log = join(folder, "opened.txt");
    const browser = join(folder, "browser.sh");
    writeFileSync(browser, `#!/bin/sh\necho "$1" > '${log}'\n`, { mode: 0o755 });
    await run(["search", "glacier", "--open"], { BROWSER: browser });
    while (!existsSync(log) || readFileSync(log, "utf8") === "") await wait(20);
    expect(readFileSync(log, "utf8")).toMatch(/^http:\S+\/story\.mp4#t=/);
    const { status, stderr } = await run(["search", "glacier", "--open", "99"]);
    expect({ status, stderr }).toMatchObject({ status: 3, stderr: /rank 99/ });
  });
});

describe("ask", () => {
  it("prints the answer, who wrote it, and its citations", async () => {
    const { stdout, status } = await run(["ask", "Who constructed the cabin?"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/carpenter .*\[1\]\nQuoted without a language model\.\n/);
    expect(stdout).toMatch(/^\[1\] story\.mp4 {2}\d:\d\d–\d:\d\d$/m);
    const [answer] = await runJson(["ask", "Who constructed the cabin?"]);
    expect(answer).toMatchObject({ grounded: true, model: "extractive" });
  });

  it("prints the closest moments where nothing answers the question", async () => {
    const { stdout } = await run(["ask", "What colour is the cabin?"]);
    expect(stdout).toMatch(/\nClosest moments:\n#  score/);
    expect(stdout).not.toContain("[1]");
  });
});

describe("export", () => {
  it("csv prints a table of the hits", async () => {
    const { stdout, status } = await run(["export", "csv", "glacier", "--top-k", "3"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^rank,score,segment_id,/);
    expect(stdout).toMatch(/^1,0\.\d+,seg_\w+,vid_\w+,video,story\.mp4,/m);
  });

  it("edl and otio take ids of segments, in their order", async () => {
    const [{ segments }] = await runJson(["search", "glacier", "--mode", "video", "--top-k", "20"]);
    const story = segments.filter(({ title }: { title: string }) => title === "story.mp4");
    const ids = story.map(({ segment_id }: { segment_id: string }) => segment_id).slice(0, 2);
    const edl = await run(["export", "edl", ...ids]);
    expect(edl.stdout).toMatch(/^TITLE: story\.mp4\r\nFCM: /);
    expect(edl.stdout.match(/FROM CLIP NAME/g)).toHaveLength(2);
    const [timeline] = await runJson(["export", "otio", ...ids]);
    const clips = timeline.tracks.children[0].children;
    expect(clips.map((clip: any) => clip.metadata.sightline.segment_id)).toEqual(ids);
  });
});

describe("transcripts, statistics, traversal, keys and jobs", () => {
  it("a transcript is replaced by a file and printed as subtitles", async () => {
    const [{ segments }] = await runJson(["search", "glacier", "--top-k", "1"]);
    const id = segments[0].video_id;
    const before = await run(["transcript", "get", id, "--format", "srt"]);
    const file = join(folder, "new.srt");
    writeFileSync(file, before.stdout.replace("glacier", "ice field"));
    expect(await run(["transcript", "put", id, file])).toMatchObject({ status: 0 });
    expect((await run(["transcript", "get", id])).stdout).toMatch(/^WEBVTT\n[^]*ice field/);
  });

  it("stats prints what was used today and in 30 days, with the cost", async () => {
    const { stdout } = await run(["stats"]);
    expect(stdout).toMatch(/^1 index, \d+ videos, \d+ images, \d+ segments$/m);
    expect(stdout).toMatch(/^estimated cost +\$\d+\.\d+ +\$\d+\.\d+$/m);
  });

  it("traverse prints the assets with findings and ends with 1 if there are any", async () => {
    const { stdout, status } = await run(["traverse"]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^broken\.mp4 \(vid_\w+\)\n {2}ingest_failed: /m);
  });

  it("a key is created, listed and revoked", async () => {
    const { stdout } = await run(["keys", "create", "website", "--scopes", "read"]);
    const created = stdout.trim();
    expect((await run(["index", "create", "x"], { SIGHTLINE_API_KEY: created })).status).toBe(4);
    const [{ keys }] = await runJson(["keys", "list"]);
    const { key_id } = keys.find((one: { name: string }) => one.name === "website");
    expect((await run(["keys", "revoke", key_id])).stdout).toBe(`Revoked ${key_id}.\n`);
  });

  it("jobs are listed and read", async () => {
    const [{ jobs }] = await runJson(["jobs", "list", "--limit", "1"]);
    expect(jobs).toHaveLength(1);
    const [job] = await runJson(["jobs", "get", jobs[0].job_id]);
    expect(job).toMatchObject({ job_id: jobs[0].job_id });
  });
});

describe("exit codes", () => {
  it.each([
    [["search"], {}, 2, "query"],
    [["search", "?"], {}, 2, "word or a number"],
    [["search", "boat"], { SIGHTLINE_INDEX: "" }, 2, "SIGHTLINE_INDEX"],
    [["search", "boat", "--index", "nowhere"], {}, 3, "nowhere"],
    [["jobs", "get", "job_x"], {}, 3, "request"],
    [["add", "/nowhere.mp4"], {}, 3, "There is no file or folder"],
    [["stats"], { SIGHTLINE_API_KEY: "sl_wrong" }, 4, "sightline login"],
    [["stats"], { SIGHTLINE_URL: "http://127.0.0.1:1", SIGHTLINE_API_KEY: "x" }, 1, "running"],
    [["index", "create", "trip"], {}, 1, "exists"],
    [["index", "delete", "trip"], {}, 1, "--yes"],
  ])("sightline %j with %j ends with %i and one line on stderr", async (args, env, code, text) => {
    const { status, stdout, stderr } = await run(args, env);
    expect({ status, stdout }).toEqual({ status: code, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(text);
  });
});
