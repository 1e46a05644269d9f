import {
  existsSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writePaddedVideo } from "../../bench/large-video.ts";
import type { IndexRecord, Job, Key, Upload } from "../../client/src/index.ts";
import { buildSamplePack } from "../../tools/sample/pack.ts";
import { waitUntil } from "../support/wait.ts";
import {
  type CommandLineService,
  type CommandOutcome,
  startCommandLineService,
  UGLY_NAME,
} from "./command-line-service.ts";

let service: CommandLineService;
let added: CommandOutcome;

beforeAll(async () => {
  service = await startCommandLineService();
  const login = await service.run(["login", "--key", service.key]);
  expect(login).toMatchObject({ status: 0, stderr: "" });
  added = await service.run(["add", service.media, "--create", "--metadata", '{"year": 2024}']);
});

afterAll(() => service.stop());

/** A line that `add --json` prints. */
interface AddOutcome {
  asset_id: string;
}

describe("login", () => {
  it("stores the key where only its owner may read it, and the next commands use it", async () => {
    const file = join(service.config, "config.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      url: service.url,
      api_key: service.key,
    });
    expect(statSync(file).mode % 0o1000).toBe(0o600);
    const [account] = await service.runJson(["whoami"]);
    expect(account).toMatchObject({ name: "Ada", url: service.url, scopes: expect.any(Array) });
  });

  it("with an unknown key fails with 4 and stores nothing", async () => {
    const env = { XDG_CONFIG_HOME: join(service.folder, "empty") };
    const { status, stdout, stderr } = await service.run(
      ["login", "--key", `${service.key}x`],
      env,
    );
    expect({ status, stdout }).toEqual({ status: 4, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+ \(request [\w-]+\)\n$/);
    expect(existsSync(env.XDG_CONFIG_HOME)).toBe(false);
  });

  it("is missing at another URL: the stored key isn't sent there", async () => {
    const { status, stderr } = await service.run(["stats", "--url", service.photos.origin]);
    expect(status).toBe(4);
    expect(stderr).toContain("There is no API key for");
  });
});

describe("add", () => {
  it("uploads the videos and images of a folder with a line for each, and their transcripts", () => {
    expect(added.status).toBe(0);
    expect(added.stdout).toMatch(/^Added 2 files in /);
    expect(added.stderr).toMatch(/^[\w-]+\/story\.mp4 +✔ ready, 0:33, \d+ segments$/m);
    expect(added.stderr).toContain("Skipped 1 other file of the folders: notes.md");
    expect(added.stderr).toContain(`Search what is ready: ${service.url}/#/`);
    expect(added.stderr).not.toContain("\u001B");
  });

  it("uploads nothing twice, and says which asset has the bytes", async () => {
    const copy = join(service.folder, "copy.jpg");
    copyFileSync(join(service.media, "below", UGLY_NAME), copy);
    const outcomes = await service.runJson(["add", service.media, copy]);
    expect(outcomes).toHaveLength(3);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ duplicate: true, error: null });
    const [list] = (await service.runJson(["index", "list"])) as { indices: IndexRecord[] }[];
    expect(list?.indices).toMatchObject([{ counts: { videos: 1, images: 1 } }]);
  });

  it("has the service fetch a URL, and finds the bytes of another one in the index", async () => {
    const [first] = (await service.runJson([
      "add",
      `${service.photos.origin}/photos/1.jpg`,
    ])) as AddOutcome[];
    expect(first).toMatchObject({ state: "ready", duplicate: false });
    const [second] = await service.runJson([
      "add",
      `${service.photos.origin}/photos/1.jpg?copy`,
      "--type",
      "image",
    ]);
    expect(second).toMatchObject({ state: "ready", duplicate: true, asset_id: first?.asset_id });
  });

  it("lists what failed with the reason, ends with 1, and retries only that", async () => {
    const broken = join(service.folder, "broken.mp4");
    writeFileSync(broken, readFileSync(join(service.media, "story.mp4")).subarray(0, 3000));
    const notMedia = join(service.folder, "notes.mp4");
    writeFileSync(notMedia, "not a video");
    const { status, stdout } = await service.run(["add", broken, notMedia]);
    expect(status).toBe(1);
    expect(stdout).toContain("2 files failed:");
    expect(stdout).toContain(`${broken}\n    unreadable_container: `);
    expect(stdout).toContain(`${notMedia}\n    error: It is neither a video nor an image`);
    const before = await service.get("/index/trip/videos?limit=1");
    expect((await service.run(["add", broken])).status).toBe(1);
    const after = await service.get("/index/trip/videos?limit=1");
    expect(after).toMatchObject({ total: (before as { total: number }).total });
  });

  it("lists links out of a folder with the reason, and follows them with --follow-links", async () => {
    const folder = join(service.folder, "linked");
    mkdirSync(folder);
    const link = join(folder, "link.mp4");
    symlinkSync(join(service.media, "story.mp4"), link);
    const skipped = await service.run(["add", folder]);
    expect(skipped).toMatchObject({ status: 2, stdout: "" });
    expect(skipped.stderr).toContain(`  ${link}: it leads out of its folder\n`);
    const [outcome] = await service.runJson(["add", folder, "--follow-links"]);
    expect(outcome).toMatchObject({ source: link, state: "ready", duplicate: true });
  });

  it("continues an upload after Ctrl-C, and uploads it once", async () => {
    const large = join(service.folder, "large.mp4");
    const { folder } = await buildSamplePack();
    await writePaddedVideo(join(folder, "slides.mp4"), large, 128_000_000);
    const { child, ended } = service.start(["add", large]);
    const upload = await waitUntil(async () => {
      const { uploads } = (await service.get("/index/trip/uploads")) as { uploads: Upload[] };
      return uploads[0]?.offset ? uploads[0] : null;
    });
    child.kill("SIGINT");
    const { status, stderr } = await ended;
    expect(status).toBe(130);
    expect(stderr).toContain("The same command continues");
    const path = `/index/trip/uploads/${upload.upload_id}`;
    const stopped = await service.get(path);
    expect(stopped).toMatchObject({ state: "open", length: 128_000_000 });
    expect(readdirSync(join(service.config, "uploads"))).toHaveLength(1);

    const [outcome] = (await service.runJson(["add", large])) as AddOutcome[];
    expect(outcome).toMatchObject({ state: "ready", duplicate: false });
    expect(await service.get(path)).toMatchObject({
      state: "complete",
      asset_id: outcome?.asset_id,
    });
    expect(readdirSync(join(service.config, "uploads"))).toHaveLength(0);
    const [again] = await service.runJson(["add", large]);
    expect(again).toMatchObject({ duplicate: true, asset_id: outcome?.asset_id });
  });
});

describe("search", () => {
  it("--json prints the service's result, and nothing else on stdout", async () => {
    const hits = await service.search("glacier", "--top-k", "2");
    expect(hits[0]).toMatchObject({ rank: 1, title: "story.mp4" });
    expect(hits.length).toBeLessThanOrEqual(2);
  });

  it("prints a table with time and matching words, at most 100 columns wide", async () => {
    const { stdout } = await service.run(["search", "glacier", "--mode", "speech"]);
    expect(stdout).toMatch(/^#  score  title/);
    expect(stdout).toMatch(/1 {3}0\.\d\d {2}story\.mp4 .* \d:\d\d–\d:\d\d {2}speech: .*«glacier»/);
    expect(stdout).not.toContain("http");
    expect(stdout).not.toContain("\u001B");
  });

  it("prints links in words where the terminal takes them, and else only with --links", async () => {
    const linked = await service.run(["search", "glacier", "--top-k", "1"], {
      FORCE_HYPERLINK: "1",
    });
    expect(linked.stdout.replaceAll("\u001B", "ESC")).toMatch(
      /ESC\]8;;http:\S+#t=[\d.,]+ESC\\playESC\]8;;ESC\\/,
    );
    const plain = await service.run(["search", "glacier", "--top-k", "1", "--links"]);
    expect(plain.stdout).toMatch(/^1 {2}http:\S+#t=[\d.,]+$/m);
  });

  it("finds by image and by metadata", async () => {
    const image = join(service.media, "below", UGLY_NAME);
    const [hit] = await service.search("--image", image, "--top-k", "1");
    expect(hit).toMatchObject({ asset_type: "image", title: expect.stringContaining("動画") });
    expect(await service.search("glacier", "--filter", '{"year": 1999}')).toEqual([]);
  });

  it("--open opens the moment with the given rank in the browser", async () => {
    const log = join(service.folder, "opened.txt");
    const browser = join(service.folder, "browser.sh");
    writeFileSync(browser, `#!/bin/sh\necho "$1" > '${log}'\n`, { mode: 0o755 });
    await service.run(["search", "glacier", "--open"], { BROWSER: browser });
    await waitUntil(() => existsSync(log) && readFileSync(log, "utf8") !== "");
    expect(readFileSync(log, "utf8")).toMatch(/^http:\S+\/story\.mp4#t=/);
    const { status, stderr } = await service.run(["search", "glacier", "--open", "99"]);
    expect({ status, stderr }).toMatchObject({ status: 3, stderr: /rank 99/ });
  });
});

describe("ask", () => {
  it("prints the answer, who wrote it, and its citations", async () => {
    const { stdout, status } = await service.run(["ask", "Who constructed the cabin?"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/carpenter .*\[1\]\nQuoted without a language model\.\n/);
    expect(stdout).toMatch(/^\[1\] story\.mp4 {2}\d:\d\d–\d:\d\d$/m);
    const [answer] = await service.runJson(["ask", "Who constructed the cabin?"]);
    expect(answer).toMatchObject({ grounded: true, model: "extractive" });
  });

  it("prints the closest moments where nothing answers the question", async () => {
    const { stdout } = await service.run(["ask", "What colour is the cabin?"]);
    expect(stdout).toMatch(/\nClosest moments:\n#  score/);
    expect(stdout).not.toContain("[1]");
  });
});

describe("export", () => {
  it("csv prints a table of the hits", async () => {
    const { stdout, status } = await service.run(["export", "csv", "glacier", "--top-k", "3"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^rank,score,segment_id,/);
    expect(stdout).toMatch(/^1,0\.\d+,seg_\w+,vid_\w+,video,story\.mp4,/m);
  });

  it("edl and otio take ids of segments, in their order", async () => {
    const hits = await service.search("glacier", "--mode", "video", "--top-k", "20");
    const story = hits.filter(({ title }) => title === "story.mp4");
    const ids = story.map(({ segment_id }) => segment_id).slice(0, 2);
    const edl = await service.run(["export", "edl", ...ids]);
    expect(edl.stdout).toMatch(/^TITLE: trip\r\nFCM: /);
    expect(edl.stdout.match(/FROM CLIP NAME/g)).toHaveLength(2);
    const { stdout } = await service.run(["export", "fcpxml", ...ids, "--fps", "25"]);
    expect(stdout.match(/<asset-clip /g)).toHaveLength(2);
  });

  it("markers have the score and the evidence of the hits", async () => {
    const { stdout } = await service.run(["export", "markers_edl", "glacier", "--top-k", "1"]);
    expect(stdout).toMatch(/^Score 0\.\d\d: .* \|C:ResolveColor\w+ \|M:.+ \|D:\d+$/m);
  });

  it("a list that a format can't say ends with the reason", async () => {
    const args = ["export", "chapters", "glacier", "--top-k", "1"];
    const { status, stderr } = await service.run(args);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/3 chapters or more, not 1/),
    });
  });
});

describe("transcripts, imports, statistics, traversal, keys and jobs", () => {
  it("a transcript is replaced by a file and printed as subtitles", async () => {
    const [hit] = await service.search("glacier", "--top-k", "1");
    const id = hit!.video_id!;
    const before = await service.run(["transcript", "get", id, "--format", "srt"]);
    const file = join(service.folder, "new.srt");
    writeFileSync(file, before.stdout.replace("glacier", "ice field"));
    expect(await service.run(["transcript", "put", id, file])).toMatchObject({ status: 0 });
    expect((await service.run(["transcript", "get", id])).stdout).toMatch(/^WEBVTT\n[^]*ice field/);
  });

  it("a transcript that is put beside a file later is sent by adding the file again", async () => {
    const media = join(service.folder, "later.mp4");
    const { folder } = await buildSamplePack();
    copyFileSync(join(folder, "slides.mp4"), media);
    await service.run(["add", media]);
    writeFileSync(join(service.folder, "later.srt"), "1\n00:00:00,000 --> 00:00:02,000\nQuokka.\n");
    expect(await service.run(["add", media])).toMatchObject({ status: 0 });
    const [hit] = await service.search("quokka", "--mode", "speech");
    expect(hit).toMatchObject({ title: "later.mp4", score: expect.closeTo(1, 0) });
    const again = await service.runJson(["add", media]);
    expect(again).toMatchObject([{ duplicate: true }]);
  });

  it("a profile is imported, with the outcome of each item", async () => {
    const { stdout, status } = await service.run(["import", "profile", service.photos.profileUrl]);
    expect(status).toBe(0);
    expect(stdout.match(/^Card \d +(added|present)$/gm)).toHaveLength(3);
  });

  it("stats prints what was used today and in 30 days, with the cost", async () => {
    const { stdout } = await service.run(["stats"]);
    expect(stdout).toMatch(/^1 index, \d+ videos, \d+ images, \d+ segments$/m);
    expect(stdout).toMatch(/^estimated cost +\$\d+\.\d+ +\$\d+\.\d+$/m);
  });

  it("traverse prints the assets with findings and ends with 1 if there are any", async () => {
    const { stdout, status } = await service.run(["traverse"]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^broken\.mp4 \(vid_\w+\)\n {2}ingest_failed: /m);
  });

  it("a key is created, listed and revoked", async () => {
    const { stdout } = await service.run(["keys", "create", "website", "--scopes", "read"]);
    const created = stdout.trim();
    expect(
      (await service.run(["index", "create", "x"], { SIGHTLINE_API_KEY: created })).status,
    ).toBe(4);
    const [list] = (await service.runJson(["keys", "list"])) as { keys: Key[] }[];
    const { key_id } = list!.keys.find(({ name }) => name === "website")!;
    expect((await service.run(["keys", "revoke", key_id])).stdout).toBe(`Revoked ${key_id}.\n`);
  });

  it("jobs are listed and read", async () => {
    const [list] = (await service.runJson(["jobs", "list", "--limit", "1"])) as { jobs: Job[] }[];
    const [{ job_id }] = list!.jobs as [Job];
    expect(await service.runJson(["jobs", "get", job_id])).toMatchObject([{ job_id }]);
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
    [["add", "https://example.org/a.mp4", "--index", "nosuch"], {}, 3, "--create"],
    [["index", "delete", "trip"], {}, 1, "--yes"],
  ])("sightline %j with %j ends with %i and one line on stderr", async (args, env, code, text) => {
    const { status, stdout, stderr } = await service.run(args, env);
    expect({ status, stdout }).toEqual({ status: code, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(text);
  });
});
