import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { waitUntil } from "../support/wait.ts";
import {
  BIG,
  describeFile,
  type Handler,
  writeModelFiles,
  sendChunk,
  serve,
  setUpModelServer,
  SMALL,
  startCommand,
} from "./model-server.ts";

const server = setUpModelServer();
const at = (...path: string[]) => join(server.models, "test-model", ...path);
const big = () => at("big.bin");
const run = (...args: string[]) => startCommand(server, ...args).outcome;

function expectPulled(): void {
  expect(readFileSync(big()).equals(BIG)).toBe(true);
  expect(readFileSync(at("deep/small.json")).equals(SMALL)).toBe(true);
  expect(readdirSync(at()).sort()).toEqual(["big.bin", "deep"]);
  expect(existsSync(`${at()}.lock`)).toBe(false);
}

/** Writes the partial file of an interrupted run. */
function writePart(content = BIG.subarray(0, 1_000_000)): void {
  writeModelFiles(`${big()}.part`, content);
}

describe("models pull", () => {
  it("downloads and verifies every file, and does nothing the second time", async () => {
    const first = await run("pull", "test-model");
    expect(first).toMatchObject({ status: 0, stderr: "" });
    expect(first.stdout).toContain(`pulled and verified, in ${at()}`);
    expect(first.stdout).toMatch(/50 %|5\d %|6\d %/);
    expect(first.stdout).not.toContain("\u001B");
    expectPulled();
    expect(server.requests).toEqual(["/big.bin", "/deep/small.json"]);
    const second = await run("pull", "test-model");
    expect(second).toMatchObject({ status: 0, stderr: "" });
    expect(second.stdout).toContain("already complete");
    expect(server.requests).toHaveLength(2);
  });

  it("resumes after a broken connection", async () => {
    let requestCount = 0;
    server.handle = (request, response) => {
      if (requestCount++ < 2) sendChunk(request, response, 1_000_000, () => response.destroy());
      else serve(request, response);
    };
    expect(await run("pull", "test-model")).toMatchObject({ status: 0, stderr: "" });
    expectPulled();
    const starts = server.requests
      .slice(0, 3)
      .map((request) => Number(/(\d+)-$/.exec(request)?.[1] ?? 0));
    expect(starts[0]).toBe(0);
    expect(starts[1]).toBeGreaterThan(0);
    expect(starts[2]).toBeGreaterThan(starts[1]!);
    expect(starts[2]).toBeLessThanOrEqual(2_000_000);
  });

  it("resumes an interrupted run", async () => {
    const { promise: chunkSent, resolve: onChunkSent } = Promise.withResolvers<void>();
    server.handle = (request, response) => sendChunk(request, response, 1_500_000, onChunkSent);
    const { child, outcome } = startCommand(server, "pull", "test-model");
    await chunkSent;
    const part = `${big()}.part`;
    await waitUntil(() => existsSync(part) && readFileSync(part).length >= 1_500_000);
    child.kill("SIGINT");
    const interrupted = await outcome;
    expect(interrupted.status).toBe(130);
    expect(interrupted.stderr).toBe("Stopped. The next pull resumes from here.\n");
    expect((await run("list")).stdout).toMatch(/test-model .* 49 % pulled/);
    server.handle = serve;
    expect(await run("pull", "test-model")).toMatchObject({ status: 0 });
    expect(server.requests[1]).toBe("/big.bin bytes=1500000-");
    expectPulled();
  });

  it.each<[string, Handler]>([
    ["ignores the range", (_, response) => void response.end(BIG)],
    [
      "sends another range",
      (request, response) => {
        const wrong = { "content-range": `bytes 0-9/${BIG.length}` };
        if (request.headers.range) response.writeHead(206, wrong).end(BIG.subarray(0, 10));
        else response.end(BIG);
      },
    ],
    [
      "rejects the range",
      (request, response) => {
        if (request.headers.range) response.writeHead(416).end();
        else response.end(BIG);
      },
    ],
    [
      "is busy at first",
      (request, response) => {
        if (server.requests.length === 1) response.writeHead(503).end();
        else serve(request, response);
      },
    ],
  ])("succeeds with a server that %s", async (_, handler) => {
    writePart();
    server.handle = (request, response) => {
      (request.url === "/big.bin" ? handler : serve)(request, response);
    };
    expect(await run("pull", "test-model")).toMatchObject({ status: 0, stderr: "" });
    expect(server.requests[0]).toBe("/big.bin bytes=1000000-");
    expectPulled();
  });

  it("deletes a file with a wrong SHA-256 and succeeds the next time", async () => {
    writePart(Buffer.alloc(1_000_000));
    const wrong = await run("pull", "test-model");
    expect(wrong.status).toBe(1);
    expect(wrong.stderr).toMatch(
      /^http.*big\.bin has another SHA-256 than listed, and was deleted\.\n$/,
    );
    expect(readdirSync(at())).toEqual([]);
    expect(await run("pull", "test-model")).toMatchObject({ status: 0 });
    expectPulled();
  });

  it("downloads a damaged file again", async () => {
    await run("pull", "test-model");
    truncateSync(big(), 10);
    expect((await run("list")).stdout).toMatch(/test-model .* damaged: pull again/);
    expect(await run("pull", "test-model")).toMatchObject({ status: 0 });
    expectPulled();
  });

  it("rejects a file that is too long", async () => {
    server.handle = (_, response) => void response.end(Buffer.concat([BIG, BIG]));
    const { status, stderr } = await run("pull", "test-model");
    expect(status).toBe(1);
    expect(stderr).toContain("is longer than listed");
    expect(existsSync(big())).toBe(false);
    server.handle = serve;
    expect(await run("pull", "test-model")).toMatchObject({ status: 0 });
    expectPulled();
  });

  it("reports the error status of the server", async () => {
    server.handle = (_, response) => void response.writeHead(404).end("gone");
    const { status, stderr } = await run("pull", "test-model");
    expect(status).toBe(1);
    expect(stderr).toBe(`${server.origin}big.bin can't be downloaded: the server answered 404.\n`);
    expect(server.requests).toHaveLength(1);
  });

  it("says what to do without internet", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const address = closed.address();
    const host = `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    closed.close();
    await once(closed, "close");
    server.registry["test-model"].baseUrl = `http://${host}/`;
    const { status, stderr } = await run("pull", "test-model");
    expect(status).toBe(1);
    const [sentence, ...targets] = stderr.trimEnd().split("\n");
    expect(sentence).toMatch(/^127\.0\.0\.1:\d+ can't be reached \(ECONNREFUSED\)\. Without inter/);
    expect(targets.join()).toContain(`http://${host}/big.bin`);
    expect(targets.join()).toContain(`→ ${big()}`);
  });

  it("stops before downloading if the disk is too small", async () => {
    server.registry["test-model"].files[0]!.bytes = Number.MAX_SAFE_INTEGER;
    const { status, stderr } = await run("pull", "test-model");
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The disk is too small: .* MB are needed, .* MB are free in .*\n$/);
    expect(server.requests).toEqual([]);
  });

  it("reports a full disk", async () => {
    mkdirSync(at(), { recursive: true });
    symlinkSync("/dev/full", `${big()}.part`);
    const { status, stderr } = await run("pull", "test-model");
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The disk is full\. .*\n$/);
  });

  it("locks the model against another pull or a removal", async () => {
    const { promise: chunkSent, resolve: onChunkSent } = Promise.withResolvers<void>();
    server.handle = (request, response) => {
      sendChunk(request, response, 1_000_000, onChunkSent);
    };
    const { child, outcome } = startCommand(server, "pull", "test-model");
    await chunkSent;
    for (const command of ["pull", "remove"]) {
      const { status, stderr } = await run(command, "test-model");
      expect(status).toBe(1);
      expect(stderr).toContain(`Process ${child.pid} holds the lock of this model.`);
    }
    child.kill("SIGKILL");
    await outcome;
    server.handle = serve;
    expect(await run("pull", "test-model")).toMatchObject({ status: 0 });
    expectPulled();
  });
});

describe("models list", () => {
  it("shows each model with its state and use", async () => {
    const files = ["config.json", "preprocessor_config.json", "tokenizer.json"];
    files.push("tokenizer_config.json", "onnx/text_model.onnx", "onnx/vision_model.onnx");
    server.registry["test-model"].files = files.map((path) => describeFile(path));
    const empty = await run("list");
    expect(empty).toMatchObject({ status: 0, stderr: "" });
    expect(empty.stdout).toContain(server.models);
    expect(empty.stdout).toMatch(/test-model +embeddings +0\.1 kB/);
    expect(empty.stdout).toMatch(/other-model +embeddings +3\.0 MB +MIT +– /);
    for (const path of files) writeModelFiles(at(path), SMALL);
    expect((await run("list")).stdout).toMatch(/test-model .* complete, in use /);
    writeFileSync(at("config.json"), '{"model_type":"CLIP"}');
    expect((await run("list")).stdout).toMatch(/test-model .* damaged: pull again /);
  });

  it("shows models in use that it did not pull", async () => {
    writeModelFiles(join(server.models, "own", "ggml-own.bin"), Buffer.from("lmgg and more"));
    expect((await run("list")).stdout).toMatch(/Also in use, not verified: own\n$/);
  });
});

describe("models remove", () => {
  it("deletes a complete or partial model and nothing else", async () => {
    writeModelFiles(join(server.models, "mine"), SMALL);
    writePart();
    expect(await run("remove", "test-model")).toMatchObject({
      status: 0,
      stdout: "test-model was removed.\n",
    });
    expect(readdirSync(server.models).sort()).toEqual(["mine", "registry.json"]);
    const secondRun = await run("remove", "test-model");
    expect(secondRun).toMatchObject({
      status: 0,
      stdout: `test-model is not in ${server.models}.\n`,
    });
  });
});

describe("models", () => {
  it("prints its usage with --help", async () => {
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
  ])("rejects %j", async (args, message) => {
    const { status, stdout, stderr } = await run(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).toContain("Usage: ");
  });

  it.each([
    ["a path out of the folder", { files: [{ ...describeFile("big.bin"), path: "../big.bin" }] }],
    ["a hidden path", { files: [{ ...describeFile("big.bin"), path: "a/.hidden" }] }],
    ["another host without encryption", { baseUrl: "http://example.com/" }],
    ["an invalid hash", { files: [{ ...describeFile("big.bin"), sha256: "abc" }] }],
  ])("rejects a list with %s", async (_, change) => {
    Object.assign(server.registry["test-model"], change);
    const { status, stderr } = await run("list");
    expect(status).toBe(1);
    expect(stderr).toContain("is not a list of models");
  });

  it("has a default list that pins every file to a revision", () => {
    const listed: Record<string, { baseUrl: string }> = JSON.parse(
      readFileSync("local/models.json", "utf8"),
    );
    for (const { baseUrl } of Object.values(listed)) {
      expect(baseUrl).toMatch(/^https:\/\/[^/]+\/.*\/[\da-f]{40}\/$/);
    }
  });
});
