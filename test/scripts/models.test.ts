import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  BIG,
  describeFile,
  type Handler,
  place,
  sendSome,
  serve,
  setScene,
  SMALL,
  startCommand,
} from "./model-server.ts";

const scene = setScene();
const at = (...path: string[]) => join(scene.models, "test-model", ...path);
const big = () => at("big.bin");
const run = (...args: string[]) => startCommand(scene, ...args).outcome;

function expectPulled(): void {
  expect(readFileSync(big()).equals(BIG)).toBe(true);
  expect(readFileSync(at("deep/small.json")).equals(SMALL)).toBe(true);
  expect(readdirSync(at()).sort()).toEqual(["big.bin", "deep"]);
  expect(existsSync(`${at()}.lock`)).toBe(false);
}

/** What an earlier run left. */
function leavePart(content = BIG.subarray(0, 1_000_000)): void {
  place(`${big()}.part`, content);
}

describe("models pull", () => {
  it("brings every file, verifies them, and does nothing the second time", async () => {
    const first = await run("pull", "test-model");
    expect(first).toMatchObject({ status: 0, stderr: "" });
    expect(first.stdout).toContain(`pulled and verified, in ${at()}`);
    expect(first.stdout).toMatch(/50 %|5\d %|6\d %/);
    expect(first.stdout).not.toContain("\u001B");
    expectPulled();
    expect(scene.asked).toEqual(["/big.bin", "/deep/small.json"]);
    const second = await run("pull", "test-model");
    expect(second).toMatchObject({ status: 0, stderr: "" });
    expect(second.stdout).toContain("is there");
    expect(scene.asked).toHaveLength(2);
  });

  it("goes on where a broken connection left it", async () => {
    let times = 0;
    scene.handle = (request, response) => {
      if (times++ < 2) sendSome(request, response, 1_000_000, () => response.destroy());
      else serve(request, response);
    };
    expect(await run("pull", "test-model")).toMatchObject({ status: 0, stderr: "" });
    expectPulled();
    const starts = scene.asked.slice(0, 3).map((one) => Number(/(\d+)-$/.exec(one)?.[1] ?? 0));
    expect(starts[0]).toBe(0);
    expect(starts[1]).toBeGreaterThan(0);
    expect(starts[2]).toBeGreaterThan(starts[1]!);
    expect(starts[2]).toBeLessThanOrEqual(2_000_000);
  });

  it("goes on where an earlier run was interrupted", async () => {
    const { promise: half, resolve: came } = Promise.withResolvers<void>();
    scene.handle = (request, response) => {
      sendSome(request, response, 1_500_000, came);
    };
    const { child, outcome } = startCommand(scene, "pull", "test-model");
    await half;
    while (!existsSync(`${big()}.part`) || readFileSync(`${big()}.part`).length < 1_500_000) {
      await new Promise((resolve) => void setTimeout(resolve, 20));
    }
    child.kill("SIGINT");
    const interrupted = await outcome;
    expect(interrupted.status).toBe(130);
    expect(interrupted.stderr).toBe("Stopped. The next pull goes on from here.\n");
    expect((await run("list")).stdout).toMatch(/test-model .* 49 % pulled/);
    scene.handle = serve;
    expect(await run("pull", "test-model")).toMatchObject({ status: 0 });
    expect(scene.asked[1]).toBe("/big.bin bytes=1500000-");
    expectPulled();
  });

  it.each<[string, Handler]>([
    ["ignores what is here", (_, response) => void response.end(BIG)],
    [
      "sends another part",
      (request, response) => {
        const wrong = { "content-range": `bytes 0-9/${BIG.length}` };
        if (request.headers.range) response.writeHead(206, wrong).end(BIG.subarray(0, 10));
        else response.end(BIG);
      },
    ],
    [
      "refuses the range",
      (request, response) => {
        if (request.headers.range) response.writeHead(416).end();
        else response.end(BIG);
      },
    ],
    [
      "is busy at first",
      (request, response) => {
        if (scene.asked.length === 1) response.writeHead(503).end();
        else serve(request, response);
      },
    ],
  ])("copes with a server that %s", async (_, answer) => {
    leavePart();
    scene.handle = (request, response) => {
      (request.url === "/big.bin" ? answer : serve)(request, response);
    };
    expect(await run("pull", "test-model")).toMatchObject({ status: 0, stderr: "" });
    expect(scene.asked[0]).toBe("/big.bin bytes=1000000-");
    expectPulled();
  });

  it("deletes what has another SHA-256, and is right the next time", async () => {
    leavePart(Buffer.alloc(1_000_000));
    const wrong = await run("pull", "test-model");
    expect(wrong.status).toBe(1);
    expect(wrong.stderr).toMatch(/^http.*big\.bin is another file than it should be .*\n$/);
    expect(readdirSync(at())).toEqual([]);
    expect(await run("pull", "test-model")).toMatchObject({ status: 0 });
    expectPulled();
  });

  it("pulls again what was damaged since", async () => {
    await run("pull", "test-model");
    truncateSync(big(), 10);
    expect((await run("list")).stdout).toMatch(/test-model .* damaged: pull again/);
    expect(await run("pull", "test-model")).toMatchObject({ status: 0 });
    expectPulled();
  });

  it("takes no file that is too long", async () => {
    scene.handle = (_, response) => void response.end(Buffer.concat([BIG, BIG]));
    const { status, stderr } = await run("pull", "test-model");
    expect(status).toBe(1);
    expect(stderr).toContain("is longer than it should be");
    expect(existsSync(big())).toBe(false);
    scene.handle = serve;
    expect(await run("pull", "test-model")).toMatchObject({ status: 0 });
    expectPulled();
  });

  it("says what the server refuses", async () => {
    scene.handle = (_, response) => void response.writeHead(404).end("gone");
    const { status, stderr } = await run("pull", "test-model");
    expect(status).toBe(1);
    expect(stderr).toBe(`${scene.origin}big.bin can't be had: the server answered 404.\n`);
    expect(scene.asked).toHaveLength(1);
  });

  it("says what to do where there is no internet", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const address = closed.address();
    const host = `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    closed.close();
    await once(closed, "close");
    scene.registry["test-model"].from = `http://${host}/`;
    const { status, stderr } = await run("pull", "test-model");
    expect(status).toBe(1);
    const [sentence, ...places] = stderr.trimEnd().split("\n");
    expect(sentence).toMatch(/^127\.0\.0\.1:\d+ can't be reached \(ECONNREFUSED\)\. Without inter/);
    expect(places.join()).toContain(`http://${host}/big.bin`);
    expect(places.join()).toContain(`→ ${big()}`);
  });

  it("knows beforehand that the disk has no room", async () => {
    scene.registry["test-model"].files[0]!.bytes = Number.MAX_SAFE_INTEGER;
    const { status, stderr } = await run("pull", "test-model");
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The disk has no room: .* MB are missing, and .* MB are free in .*\n$/);
    expect(scene.asked).toEqual([]);
  });

  it("says that the disk is full", async () => {
    mkdirSync(at(), { recursive: true });
    symlinkSync("/dev/full", `${big()}.part`);
    const { status, stderr } = await run("pull", "test-model");
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The disk is full\. .*\n$/);
  });

  it("lets one command at a time pull a model", async () => {
    const { promise: half, resolve: came } = Promise.withResolvers<void>();
    scene.handle = (request, response) => {
      sendSome(request, response, 1_000_000, came);
    };
    const { child, outcome } = startCommand(scene, "pull", "test-model");
    await half;
    for (const command of ["pull", "remove"]) {
      const { status, stderr } = await run(command, "test-model");
      expect(status).toBe(1);
      expect(stderr).toContain(`Process ${child.pid} works on this model.`);
    }
    child.kill("SIGKILL");
    await outcome;
    scene.handle = serve;
    expect(await run("pull", "test-model")).toMatchObject({ status: 0 });
    expectPulled();
  });
});

describe("models list", () => {
  it("says what there is, what is here and what is in use", async () => {
    const files = ["config.json", "preprocessor_config.json", "tokenizer.json"];
    files.push("tokenizer_config.json", "onnx/text_model.onnx", "onnx/vision_model.onnx");
    scene.registry["test-model"].files = files.map((path) => describeFile(path));
    const empty = await run("list");
    expect(empty).toMatchObject({ status: 0, stderr: "" });
    expect(empty.stdout).toContain(scene.models);
    expect(empty.stdout).toMatch(/test-model +pictures +0\.1 kB/);
    expect(empty.stdout).toMatch(/other-model +pictures +3\.0 MB +MIT +– /);
    for (const path of files) place(at(path), SMALL);
    expect((await run("list")).stdout).toMatch(/test-model .* whole, in use /);
    writeFileSync(at("config.json"), '{"model_type":"CLIP"}');
    expect((await run("list")).stdout).toMatch(/test-model .* damaged: pull again /);
  });

  it("knows the models that were put there by somebody", async () => {
    place(join(scene.models, "own", "ggml-own.bin"), Buffer.from("lmgg and more"));
    expect((await run("list")).stdout).toMatch(/Also in use, and not verified: own\n$/);
  });
});

describe("models remove", () => {
  it("removes what was pulled, whole or not, and nothing else", async () => {
    place(join(scene.models, "mine"), SMALL);
    leavePart();
    expect(await run("remove", "test-model")).toMatchObject({
      status: 0,
      stdout: "test-model was removed.\n",
    });
    expect(readdirSync(scene.models).sort()).toEqual(["mine", "registry.json"]);
    const again = await run("remove", "test-model");
    expect(again).toMatchObject({ status: 0, stdout: `test-model is not in ${scene.models}.\n` });
  });
});

describe("models", () => {
  it("says how it is used", async () => {
    const { status, stdout } = await run("--help");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Usage: npm run models -- list \| pull NAME/);
  });

  it.each([
    [["pull", "test"], /There is no model "test"\. Did you mean one of: test-model\?/],
    [["remove", "../models"], /There is no model .*: test-model, other-model\?/],
    [["pull"], /takes the name/],
    [["push", "test-model"], /The commands are/],
    [["list", "test-model"], /The commands are/],
    [["--unknown"], /unknown/i],
    [[], /The commands are/],
  ])("refuses %j", async (args, why) => {
    const { status, stdout, stderr } = await run(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(why);
    expect(stderr).toContain("Usage: ");
  });

  it.each([
    ["a path out of the folder", { files: [{ ...describeFile("big.bin"), path: "../big.bin" }] }],
    ["a hidden path", { files: [{ ...describeFile("big.bin"), path: "a/.hidden" }] }],
    ["another host without encryption", { from: "http://example.com/" }],
    ["a hash that is none", { files: [{ ...describeFile("big.bin"), sha256: "abc" }] }],
  ])("refuses a list with %s", async (_, change) => {
    Object.assign(scene.registry["test-model"], change);
    const { status, stderr } = await run("list");
    expect(status).toBe(1);
    expect(stderr).toContain("is no list of models");
  });

  it("has a list that pins every file", () => {
    const listed: Record<string, { from: string }> = JSON.parse(
      readFileSync("local/models.json", "utf8"),
    );
    for (const { from } of Object.values(listed)) {
      expect(from).toMatch(/^https:\/\/[^/]+\/.*\/[\da-f]{40}\/$/);
    }
  });
});
