import { readdirSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { crc32, deflateSync } from "node:zlib";
import {
  FF_ENCODER_FLASHSV,
  FF_ENCODER_HUFFYUV,
  FF_ENCODER_PNG,
  FF_ENCODER_ZMBV,
} from "node-av/constants";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DecoderProcesses } from "../../local/engine/decoder-processes.ts";
import { createWorkFolder } from "../../local/engine/work-folder.ts";
import { type Engine, readError, startEngine, TOKEN } from "./engine-process.ts";
import { atRate, makeVideo } from "./video-file.ts";

const SERVER = new URL("../../local/engine/media-server.ts", import.meta.url).pathname;

let decoder: Engine;

beforeAll(async () => {
  decoder = await startEngine({}, SERVER);
});
afterAll(async () => {
  await decoder.stop();
});

const sizeOf = (width: number, height: number) => u32(width, height);

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i);
  return bytes;
}

function u16(...values: number[]): Buffer {
  return Buffer.from(values.flatMap((value) => [value >> 8, value & 255]));
}

function box(type: string, ...content: Buffer[]): Buffer<ArrayBuffer> {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(body.length + 8), Buffer.from(type), body]);
}

function segment(marker: number, content: Buffer): Buffer {
  return Buffer.concat([u16(marker, content.length + 2), content]);
}

/** Makes an empty JPEG 2000 codestream. A precinct size of 0x11 makes millions of precincts. */
function codestream(side: number, components: number, bits: number, precinct?: number): Buffer {
  const component = Buffer.from([bits - 1, 1, 1]);
  const parts = Array.from({ length: components }, () => component);
  const grid = Buffer.concat([u16(0), sizeOf(side, side), u32(0, 0), sizeOf(side, side)]);
  const siz = Buffer.concat([grid, u32(0, 0), u16(components), ...parts]);
  const style = Buffer.from([precinct ? 1 : 0, 0, 0, 1, 0, 1, 4, 4, 0, 1]);
  const precincts = precinct ? Buffer.from([precinct, precinct]) : Buffer.alloc(0);
  const quantization = Buffer.from([0x40, 0x40, 0x48, 0x48, 0x50]);
  return Buffer.concat([
    u16(0xff4f),
    segment(0xff51, siz),
    segment(0xff52, Buffer.concat([style, precincts])),
    segment(0xff5c, quantization),
    segment(0xff90, Buffer.concat([u16(0), u32(14), Buffer.from([0, 1])])),
    u16(0xff93, 0xffd9),
  ]);
}

/** Makes a JP2 whose header states a small size. */
function jp2(content: Buffer): Buffer {
  const header = Buffer.concat([u32(16, 16), u16(3), Buffer.from([7, 7, 0, 0])]);
  return Buffer.concat([
    box("jP  ", Buffer.from("0d0a870a", "hex")),
    box("ftyp", Buffer.from("jp2 \0\0\0\0jp2 ")),
    box("jp2h", box("ihdr", header)),
    box("jp2c", content),
  ]);
}

function photoshop(side: number, channels: number, bits: number): Buffer {
  const start = Buffer.concat([Buffer.from("8BPS"), u16(1), Buffer.alloc(6)]);
  return Buffer.concat([start, u16(channels), sizeOf(side, side), u16(bits, 3), Buffer.alloc(64)]);
}

function bitmap(side: number): Buffer {
  const bytes = Buffer.alloc(54);
  bytes.write("BM");
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(side, 18);
  bytes.writeInt32LE(-side, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  return bytes;
}

function png(side: number): Buffer {
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  const chunk = (type: string, content: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), content]);
    return Buffer.concat([u32(content.length), body, u32(crc32(body))]);
  };
  const header = Buffer.concat([sizeOf(side, side), Buffer.from([16, 6, 0, 0, 1])]);
  const pixels = chunk("IDAT", deflateSync(Buffer.alloc(64)));
  return Buffer.concat([signature, chunk("IHDR", header), pixels, chunk("IEND", Buffer.alloc(0))]);
}

/** Makes an MP4 that promises samples, of which its bytes have none. */
function mp4(...boxes: Buffer[]): Buffer<ArrayBuffer> {
  return Buffer.concat([box("ftyp", Buffer.from("isom\0\0\0\0isom")), ...boxes]);
}

const moovOf = (table: Buffer) =>
  box("moov", box("trak", box("mdia", box("minf", box("stbl", table)))));

const MANY = 50_000_000;

/** Makes a WAV of more channels than any layout has. */
function wavOf(channels: number): Buffer<ArrayBuffer> {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(8000, 4);
  format.writeUInt32LE(8000 * channels, 8);
  format.writeUInt16LE(channels, 12);
  format.writeUInt16LE(8, 14);
  const data = Buffer.alloc(channels * 800, 0x90);
  const chunk = (name: string, content: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(content.length);
    return Buffer.concat([Buffer.from(name), length, content]);
  };
  const wave = Buffer.concat([Buffer.from("WAVE"), chunk("fmt ", format), chunk("data", data)]);
  return chunk("RIFF", wave);
}

const post = (path: string, bytes: Buffer) => decoder.post(path, new Uint8Array(bytes));

/** Resident memory of the decoder's server in MB. */
function serverMegabytes(): number {
  const status = readFileSync(`/proc/${decoder.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
}

/** Process ids of the processes that the server has started. */
function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.flatMap((thread) => {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8");
    return children.split(" ").filter(Boolean).map(Number);
  });
}

describe("an image whose header promises more than the memory of a decoder", () => {
  it.each<[string, Buffer]>([
    ["JPEG 2000 of 96 megapixels", codestream(9_800, 4, 16)],
    ["JPEG 2000 of 48 megapixels and 4 components", codestream(6_900, 4, 8)],
    ["JP2 with a small size in its header", jp2(codestream(9_800, 4, 16))],
    ["Photoshop file of 100 megapixels", photoshop(10_000, 4, 16)],
    ["Photoshop file of 40 megapixels and 56 channels", photoshop(6_300, 56, 16)],
    ["bitmap of 64 megapixels", bitmap(8_000)],
    ["interlaced PNG of 400 megapixels", png(20_000)],
  ])("is refused before it is decoded: %s", async (_, bytes) => {
    expect(await readError(await post("/media/image", bytes))).toEqual([413, "too_large"]);
  });
});

describe("a file that a library fails at", () => {
  it("leaves the server's memory as it was, ten times", async () => {
    const leaking = codestream(1_500, 3, 8, 0x11);
    expect(await readError(await post("/media/image", leaking))).toEqual([
      422,
      "undecodable_image",
    ]);
    const before = serverMegabytes();
    for (let i = 0; i < 10; i++) await post("/media/image", leaking);
    expect(serverMegabytes() - before).toBeLessThan(100);
  });

  it.each(["peaks?start=0&step=0.1&count=10", "audio?time=0&duration=1"])(
    "is the file's fault: sound of 255 channels by /media/%s",
    async (path) => {
      const response = await post(`/media/${path}`, wavOf(255));
      expect([200, 422]).toContain(response.status);
    },
  );

  it("is too complex if it takes more memory than a process may have", async () => {
    const narrow = await makeVideo({ width: 16, height: 64, times: atRate(25, 50) });
    const response = await post("/media/clip?time=0&duration=2&width=4096", narrow);
    expect(await readError(response)).toEqual([422, "too_complex"]);
    expect((await post("/media/frame?time=0", narrow)).status).toBe(200);
  });
});

describe("an MP4 that promises samples without bytes", () => {
  it.each<[string, Buffer]>([
    ["all of one size", moovOf(box("stsz", u32(0, 1, MANY)))],
    ["a table of sizes that isn't there", moovOf(box("stsz", u32(0, 0, MANY)))],
    ["a compact table that isn't there", moovOf(box("stz2", u32(0, 4, MANY)))],
    ["a run without fields", box("moof", box("traf", box("trun", u32(0, MANY))))],
    ["a run of sizes that aren't there", box("moof", box("traf", box("trun", u32(0x200, MANY))))],
  ])("is refused before it is indexed: %s", async (_, boxes) => {
    const response = await post("/media/frame?time=0", mp4(boxes));
    const body = (await response.json()) as { error: { code: string; message: string } };
    expect(response.status).toBe(422);
    expect(body.error.message).toContain("more samples than it has bytes");
  });
});

describe("a video of a codec that isn't listed", () => {
  it.each([
    ["PNG", { encoder: FF_ENCODER_PNG, pixels: "rgb24" }],
    ["Flash Screen Video", { encoder: FF_ENCODER_FLASHSV, pixels: "bgr24" }],
    ["Zip Motion Blocks", { encoder: FF_ENCODER_ZMBV, pixels: "bgr0" }],
  ])("isn't opened by any route: %s", async (_, codec) => {
    const file = await makeVideo({ codec, times: atRate(25, 5), container: "matroska" });
    for (const path of ["frame?time=0", "sheet?time=0&count=2", "clip?time=0&duration=1"]) {
      expect(await readError(await post(`/media/${path}`, file))).toEqual([
        422,
        "undecodable_media",
      ]);
    }
  });

  it("is opened if it is: Huffyuv", async () => {
    const codec = { encoder: FF_ENCODER_HUFFYUV, pixels: "yuv422p" };
    const file = await makeVideo({ codec, times: atRate(25, 5), container: "avi" });
    expect((await post("/media/frame?time=0", file)).status).toBe(200);
  });
});

it("an account's images wait for no other account's", async () => {
  const ended: string[] = [];
  const send = async (account: string, name: string, bytes: Buffer) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "x-account": account };
    const body = new Uint8Array(bytes);
    await decoder.fetch("/media/image", { method: "POST", headers, body });
    ended.push(name);
  };
  const slow = codestream(1_500, 3, 8, 0x11);
  const attacks = Array.from({ length: 12 }, (_, i) => send("attacker", `attack ${i}`, slow));
  await Promise.all([...attacks, send("neighbour", "image", bitmap(8))]);
  // It is taken third, whatever then ends first; in order of arrival it would be the last.
  expect(ended.indexOf("image")).toBeLessThan(8);
});

describe("a process of the decoder", () => {
  it("may take 1.8 GB of memory, and files of 256 MiB", async () => {
    await post("/media/image", bitmap(8));
    const limits = readFileSync(`/proc/${childrenOf(decoder.pid)[0]}/limits`, "utf8");
    expect(/^Max data size\s+(\d+)/m.exec(limits)?.[1]).toBe(String(1_800_000 * 1024));
    expect(/^Max file size\s+(\d+)/m.exec(limits)?.[1]).toBe(String(256 * 1024 ** 2));
  });

  it("ends at the deadline of its file", async () => {
    const folder = createWorkFolder();
    const processes = new DecoderProcesses(folder);
    const signal = new AbortController().signal;
    const run = (deadlineMs: number) =>
      processes.run("probe", "/dev/null", undefined, { signal, deadlineMs });
    await expect(run(1)).rejects.toMatchObject({ code: "deadline_exceeded" });
    await expect(run(600_000)).rejects.toMatchObject({ code: "undecodable_media" });
    processes.close();
    folder.remove();
  });

  it("ends when the caller of an image hangs up", async () => {
    // It is decoded within a second: on a busy machine its end may come before the first look.
    while (!(await endsWhenCallerHangsUp()));
  });
});

/** Hangs up during an image. Returns false if that was decoded before its process was seen. */
async function endsWhenCallerHangsUp(): Promise<boolean> {
  // One of its own, because an idle process may be as large as one at work.
  const own = await startEngine({}, SERVER);
  try {
    const caller = new AbortController();
    const request = own
      .fetch("/media/image", {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}` },
        body: new Uint8Array(codestream(3_500, 3, 8, 0x11)),
        signal: caller.signal,
      })
      .then(
        () => "answered",
        () => "hung up",
      );
    const answered = request.then(() => null);
    let pid: number | undefined | null;
    while (pid === undefined) {
      pid = childrenOf(own.pid).find(isLarge);
      pid ??= await Promise.race([answered, setTimeout(20, undefined)]);
    }
    caller.abort();
    if ((await request) === "answered") return false;
    await expect.poll(() => childrenOf(own.pid)).not.toContain(pid);
    return true;
  } finally {
    await own.stop();
  }
}

/** Tells whether a process has taken more memory than one that waits for a task. */
function isLarge(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) > 250_000;
  } catch {
    return false; // it has ended
  }
}
