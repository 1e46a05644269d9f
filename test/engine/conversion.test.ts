import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, readError, readJson, startEngine, TOKEN } from "./engine-process.ts";
import { atRate, makeVideo, readFrameNumber } from "./video-file.ts";

/** Frames of an MPEG-TS of 5 s, whose numbers are in their pictures. */
const FRAMES = 125;
/** Time of the first frame in its container. */
const ORIGIN_SECONDS = 0.08;

let engine: Engine;
let video: Buffer<ArrayBuffer>;

beforeAll(async () => {
  engine = await startEngine();
  const container = "mpegts";
  video = await makeVideo({
    times: atRate(25, FRAMES),
    keyframeEvery: 50,
    container,
    audioSeconds: 5,
  });
});
afterAll(async () => {
  await engine.stop();
});

const newId = () => randomBytes(32).toString("hex");

function call(method: string, path: string, body?: Buffer<ArrayBuffer>): Promise<Response> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  return engine.fetch(`/conversion/${path}`, { method, headers, ...(body && { body }) });
}

async function send(file: Buffer<ArrayBuffer>): Promise<string> {
  const id = newId();
  const response = await call("PUT", `file?file=${id}&size=${file.length}&block=0`, file);
  expect(await response.json()).toMatchObject({ missing: [] });
  return id;
}

function partOf(id: string, startMs: number, endMs: number): Promise<Response> {
  const range = `start_ms=${startMs}&end_ms=${endMs}&origin=${ORIGIN_SECONDS}`;
  return call("POST", `part?file=${id}&${range}&width=160&height=96&audio=true`);
}

/** Process ids of the running converters of this engine. */
function converters(): number[] {
  const table = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" });
  return table.split("\n").flatMap((line) => {
    const [pid, parent] = line.trim().split(/\s+/).map(Number);
    return parent === engine.pid && line.includes("decoder-process") ? [pid!] : [];
  });
}

/** Kills the converters, and returns how many there were. */
function killConverters(): number {
  const pids = converters();
  for (const pid of pids) process.kill(pid, "SIGKILL");
  return pids.length;
}

/** Process ids of the converters that have opened a stored file. */
function workers(): number[] {
  return converters().filter((pid) => {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((fd) => readlinkSync(join(folder, fd)).includes("/engine-"));
  });
}

describe("a stored file", () => {
  it("is measured to the frame", async () => {
    const response = await call("POST", `measure?file=${await send(video)}`);
    expect(await response.json()).toMatchObject({
      container: "mpegts",
      duration_seconds: expect.closeTo(FRAMES / 25, 3),
      recordings: [{ origin_seconds: ORIGIN_SECONDS }],
      video: { codec: "h264", width: 160, height: 96, fps: 25, rotation: 0 },
      audio: { codec: "aac" },
    });
  });

  it("is sent in blocks, each any number of times", async () => {
    const [id, size] = [newId(), 16 * 1024 ** 2 + 5];
    const missing = async (response: Response) =>
      (await readJson<{ missing: number[] }>(response)).missing;
    const query = `file?file=${id}&size=${size}`;
    expect(await missing(await call("GET", query))).toEqual([0, 1]);
    const end = Buffer.alloc(5);
    expect(await missing(await call("PUT", `${query}&block=1`, end))).toEqual([0]);
    expect(await missing(await call("PUT", `${query}&block=1`, end))).toEqual([0]);
    expect(await readError(await partOf(id, 0, 1000))).toEqual([404, "not_found"]);
    const long = await call("PUT", `${query}&block=1`, Buffer.alloc(6));
    expect(await readError(long)).toEqual([400, "bad_request"]);
    const beyond = await call("PUT", `${query}&block=2`, end);
    expect(await readError(beyond)).toEqual([400, "bad_request"]);
  });

  it("is gone once it was deleted", async () => {
    const id = await send(video);
    await call("DELETE", `file?file=${id}`);
    expect(await readError(await call("POST", `measure?file=${id}`))).toEqual([404, "not_found"]);
  });

  it.each([
    ["a text", Buffer.from("Just some words. ".repeat(50))],
    ["a playlist", Buffer.from("#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n")],
    ["a list of files", Buffer.from("ffconcat version 1.0\nfile /etc/hostname\n")],
  ])("that is %s is refused", async (_, bytes) => {
    const response = await call("POST", `measure?file=${await send(bytes)}`);
    expect(await readError(response)).toEqual([422, "undecodable_media"]);
  });
});

describe("a piece", () => {
  it("begins and ends with the frames on screen at its times", async () => {
    const response = await partOf(await send(video), 1000, 3000);
    expect(response.headers.get("content-type")).toBe("video/mp4");
    const piece = Buffer.from(await response.arrayBuffer());
    const numberAt = async (time: number) => {
      const frame = await engine.post(`/media/frame?time=${time}&format=png`, piece);
      return readFrameNumber(Buffer.from(await frame.arrayBuffer()));
    };
    expect([await numberAt(0), await numberAt(0.5), await numberAt(1.97)]).toEqual([25, 37, 74]);
    expect(await (await engine.post("/media/probe", piece)).json()).toMatchObject({
      duration_seconds: expect.closeTo(2, 1), // the last audio frame may end later
      video: { codec: "h264" },
      audio: { codec: "aac", sample_rate: 48_000 },
    });
  });

  it.each([
    "start_ms=0&end_ms=60001",
    "start_ms=5&end_ms=5",
    "start_ms=0&end_ms=10&width=161",
    "start_ms=0&end_ms=10&height=4000",
    "start_ms=0&end_ms=10&origin=now",
  ])("is refused with %s", async (query) => {
    const response = await call("POST", `part?file=${newId()}&${query}`);
    expect(await readError(response)).toEqual([400, "bad_request"]);
  });

  it("whose process is killed once is converted by another", async () => {
    const converting = partOf(await send(video), 0, 5_000);
    await expect.poll(killConverters).toBeGreaterThan(0);
    expect((await converting).status).toBe(200);
  });

  it("whose processes are killed is too complex, and the next one is converted", async () => {
    const id = await send(video);
    const converting = partOf(id, 0, 60_000);
    const killing = setInterval(killConverters, 50);
    const error = await readError(await converting);
    clearInterval(killing);
    expect(error).toEqual([422, "too_complex"]);
    expect((await partOf(id, 0, 2000)).status).toBe(200);
  });

  it("ends its process if the caller hangs up", async () => {
    const id = await send(video);
    const caller = new AbortController();
    const headers = { authorization: `Bearer ${TOKEN}` };
    const path = `/conversion/part?file=${id}&start_ms=0&end_ms=60000&width=160`;
    const init = { method: "POST", headers, signal: caller.signal };
    const converting = engine.fetch(path, init).catch(() => "hung up");
    await expect.poll(workers).toHaveLength(1);
    const [worker] = workers();
    caller.abort();
    expect(await converting).toBe("hung up");
    await expect.poll(converters).not.toContain(worker);
  });
});
