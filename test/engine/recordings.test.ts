import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeRestarts } from "../support/hostile-media.ts";
import { shiftClock } from "../support/patched-media.ts";
import { type Engine, readError, startEngine, TOKEN } from "./engine-process.ts";
import { atRate, makeVideo } from "./video-file.ts";

const SECONDS = 6;
/** Clock of an MPEG-TS as it overflows. */
const OVERFLOW_SECONDS = 2 ** 33 / 90_000;

interface Measured {
  duration_seconds: number;
  recordings: { start_byte: number; end_byte: number; duration_seconds: number }[];
  missing: { bytes: number; seconds: number; from_seconds: number } | null;
}

let engine: Engine;
let ts: Buffer<ArrayBuffer>;
let avi: Buffer<ArrayBuffer>;

beforeAll(async () => {
  engine = await startEngine();
  const frames = { times: atRate(25, SECONDS * 25), audioSeconds: SECONDS };
  ts = await makeVideo({ ...frames, container: "mpegts" });
  avi = await makeVideo({ ...frames, container: "avi" });
});
afterAll(async () => {
  await engine.stop();
});

async function measure(bytes: Uint8Array): Promise<Response> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const file = `file=${randomBytes(32).toString("hex")}`;
  const body = new Uint8Array(bytes);
  const query = `${file}&size=${bytes.length}&block=0`;
  await engine.fetch(`/conversion/file?${query}`, { method: "PUT", headers, body });
  return engine.fetch(`/conversion/measure?${file}`, { method: "POST", headers });
}

const measured = async (bytes: Uint8Array) => (await measure(bytes)).json() as Promise<Measured>;

describe("the recordings of", () => {
  it.each<[string, () => Uint8Array, number]>([
    ["an MPEG-TS", () => ts, 1],
    ["an MPEG-TS that starts at 50,000 s", () => shiftClock(ts, 50_000), 1],
    ["an MPEG-TS whose clock overflows", () => shiftClock(ts, OVERFLOW_SECONDS - 4), 1],
    ["an MPEG-TS that starts 100 s before", () => shiftClock(ts, OVERFLOW_SECONDS - 100), 1],
    ["two recordings one after another", () => Buffer.concat([ts, ts]), 2],
    [
      "recordings whose clock jumps ahead and back",
      () => Buffer.concat([ts, shiftClock(ts, 900), shiftClock(ts, 20)]),
      3,
    ],
    ["an AVI", () => avi, 1],
  ])("%s last as long as what they show", async (_, bytes, count) => {
    const { duration_seconds: seconds, recordings, missing } = await measured(bytes());
    expect(recordings.length).toBe(count);
    expect(Math.abs(seconds - count * SECONDS)).toBeLessThan(0.15);
    expect(missing).toBeNull();
  });

  it("an Ogg without a first page are refused", async () => {
    const page = Buffer.concat([Buffer.from("OggS"), Buffer.alloc(200)]);
    expect(await readError(await measure(page))).toEqual([422, "undecodable_media"]);
  });

  it("a file with 2,000 of them are refused", async () => {
    expect(await readError(await measure(makeRestarts(2000)))).toEqual([422, "undecodable_media"]);
  });
});

/** Writes an element of Matroska with a length of four bytes (RFC 8794). */
function element(id: string, ...content: (Buffer | string)[]): Buffer {
  const body = Buffer.concat(
    content.map((part) => (typeof part === "string" ? Buffer.from(part, "hex") : part)),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32BE(0x10000000 + body.length);
  return Buffer.concat([Buffer.from(id, "hex"), length, body]);
}

/** Makes a Matroska file of ALAC in blocks of four packets, one block a second (RFC 9559, 10.3). */
function makeLaced(seconds: number): Buffer {
  const config = "000010000010280a0e0200ff00000000000000000000ac44";
  const sound = element("e1", element("b5", "472c4400"), element("9f", "01"));
  const codec = element("86", Buffer.from("A_ALAC"));
  const track = [element("d7", "01"), element("73c5", "01"), element("83", "02"), codec];
  const entry = element("ae", ...track, element("63a2", config), sound);
  const clusters = Array.from({ length: seconds }, (_, second) => {
    const time = (1000 * second).toString(16).padStart(4, "0");
    return element(
      "1f43b675",
      element("e7", time),
      element("a3", "8100008403", Buffer.alloc(80, 7)),
    );
  });
  const segment = element("18538067", element("1549a966"), element("1654ae6b", entry), ...clusters);
  return Buffer.concat([element("1a45dfa3", element("4282", Buffer.from("matroska"))), segment]);
}

describe("the length of", () => {
  it("packets without times is that between those with times", async () => {
    expect((await measured(makeLaced(6))).duration_seconds).toBeCloseTo(6, 2);
  });
});

describe("what is missing of", () => {
  it.each<[string, number]>([
    ["zeros", 0],
    ["nothing", 77],
  ])("an MPEG-TS with %s in its middle is told", async (_, shift) => {
    const bytes = Buffer.from(ts);
    const packets = ts.length / 188;
    const [from, to] = [188 * Math.round(packets / 3), 188 * Math.round(packets / 2)];
    bytes.fill(0, from, to);
    const rest = ts.subarray(to + shift);
    const { duration_seconds: seconds, missing } = await measured(
      shift ? Buffer.concat([bytes.subarray(0, from + 50), rest]) : bytes,
    );
    expect(missing!.seconds).toBeGreaterThan(0.2);
    expect(missing!.bytes).toBeGreaterThan(0);
    expect(Math.abs(seconds - SECONDS)).toBeLessThan(0.15);
  });

  it("an MP4 that ends with zeros is told by the length that it states", async () => {
    const mp4 = await makeVideo({
      times: atRate(25, SECONDS * 25),
      audioSeconds: SECONDS,
      container: "mp4",
      options: { movflags: "+faststart" },
    });
    const bytes = Buffer.from(mp4).fill(0, Math.round(0.6 * mp4.length));
    const { duration_seconds: seconds, missing } = await measured(bytes);
    expect(seconds).toBeLessThan(SECONDS - 1);
    expect(seconds + missing!.seconds).toBeCloseTo(SECONDS, 0);
    expect(missing!.from_seconds).toBeCloseTo(seconds, 3);
  });

  it("half an AVI is told by the length that it states", async () => {
    const { duration_seconds: seconds, missing } = await measured(
      avi.subarray(0, Math.round(avi.length / 2)),
    );
    expect(seconds).toBeLessThan(SECONDS - 1);
    expect(missing!.from_seconds).toBeCloseTo(seconds, 3);
    expect(seconds + missing!.seconds).toBeCloseTo(SECONDS, 0);
  });
});
