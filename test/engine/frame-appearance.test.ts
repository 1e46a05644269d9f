import { FF_ENCODER_LIBX265 } from "node-av/constants";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, readJson, startEngine } from "./engine-process.ts";
import { expectNear } from "./expect-near.ts";
import { atRate, makeVideo, type VideoFile } from "./video-file.ts";

let engine: Engine;

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(async () => {
  await engine.stop();
});

type Facts = { video: { width: number; height: number } };

interface Picture {
  data: Buffer;
  width: number;
  height: number;
}

async function drawFrame(video: Buffer<ArrayBuffer>, time: number): Promise<Picture> {
  const response = await engine.post(`/media/frame?time=${time}&format=png`, video);
  expect(response.status).toBe(200);
  const image = sharp(Buffer.from(await response.arrayBuffer())).removeAlpha();
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

async function copyOf(video: Buffer<ArrayBuffer>): Promise<Buffer<ArrayBuffer>> {
  const response = await engine.post("/media/clip?time=0&duration=2", video);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function sizeOf(video: Buffer<ArrayBuffer>): Promise<[number, number]> {
  const facts = await readJson<Facts>(await engine.post("/media/probe", video));
  return [facts.video.width, facts.video.height];
}

function centreOf({ data, width, height }: Picture): number[] {
  return [
    ...data.subarray(3 * (Math.floor(height / 2) * width + Math.floor(width / 2))).subarray(0, 3),
  ];
}

/** Returns the mean difference of neighbouring rows. */
function combOf({ data, width, height }: Picture): number {
  const row = width * 3;
  let sum = 0;
  for (let at = 0; at + row < data.length; at++) sum += Math.abs(data[at]! - data[at + row]!);
  return sum / (row * (height - 1));
}

const GREEN = [30, 160, 60];
const fill = ([red, green, blue]: number[]) => `format=gbrp,geq=r=${red}:g=${green}:b=${blue}`;

describe("a video whose pixels aren't square", () => {
  it.each<[string, Partial<VideoFile>]>([
    ["H.264 in MPEG-TS", { container: "mpegts" }],
    ["H.264 in FLV", { container: "flv" }],
    ["H.264 in AVI", { container: "avi" }],
  ])("is shown and copied as wide as its codec says: %s", async (_, file) => {
    const video = await makeVideo({
      width: 180,
      height: 144,
      times: atRate(25, 25),
      filters: "setsar=64/45",
      ...file,
    });
    expect(await sizeOf(video)).toEqual([256, 144]);
    expect(await sizeOf(await copyOf(video))).toEqual([256, 144]);
    const { width, height } = await drawFrame(video, 0.5);
    expect([width, height]).toEqual([256, 144]);
  });
});

describe("a video of two fields a frame", () => {
  const bar = "geq=lum='if(lt(mod(X-N*6,160),40),235,16)':cb=128:cr=128";
  const interlaced = (file: Partial<VideoFile>) =>
    makeVideo({
      times: atRate(50, 100),
      filters: `${bar},tinterlace=interleave_top,setfield=tff`,
      encoderOptions: { flags: "+ildct+ilme" },
      ...file,
    });

  it.each<[string, Partial<VideoFile>]>([
    ["H.264 in MP4", {}],
    ["H.264 in MPEG-TS", { container: "mpegts" }],
  ])("has no comb in its frames and copies: %s", async (_, file) => {
    const video = await interlaced(file);
    expect(combOf(await drawFrame(video, 1))).toBeLessThan(3);
    const copy = await copyOf(video);
    expect(combOf(await drawFrame(copy, 1))).toBeLessThan(3);
    expect(await sizeOf(copy)).toEqual([160, 96]);
  });

  it("keeps the times of its frames in a copy", async () => {
    const video = await interlaced({ times: atRate(25, 50), filters: "setfield=tff" });
    const facts = await readJson<{ duration_seconds: number; video: { fps: number } }>(
      await engine.post("/media/probe", await copyOf(video)),
    );
    expect(facts.duration_seconds).toBeCloseTo(2, 2);
    expect(facts.video.fps).toBeCloseTo(25, 1);
  });
});

describe("the colours of a video", () => {
  it.each([
    ["PQ", "smpte2084", [220, 30, 30]],
    ["PQ", "smpte2084", GREEN],
    ["HLG", "arib-std-b67", [220, 30, 30]],
    ["HLG", "arib-std-b67", GREEN],
  ])("of a high dynamic range are those of a screen: %s", async (_, transfer, colour) => {
    const input = "tin=iec61966-2-1:pin=bt709:npl=203";
    const hdr = `zscale=${input}:t=${transfer}:p=bt2020:m=2020_ncl:r=tv`;
    const video = await makeVideo({
      times: atRate(25, 25),
      codec: { encoder: FF_ENCODER_LIBX265, pixels: "yuv420p10le" },
      filters: `${fill(colour)},${hdr}`,
    });
    expectNear(centreOf(await drawFrame(video, 0.5)), colour, 40);
    const copy = await copyOf(video);
    expectNear(centreOf(await drawFrame(copy, 0.5)), colour, 40);
    // "nclx" with the codes of BT.709 for primaries, transfer and matrix
    expect(copy.indexOf(Buffer.from("6e636c78000100010001", "hex"))).toBeGreaterThan(0);
  });

  it("are BT.709 in high definition without tags", async () => {
    const video = await makeVideo({
      width: 1280,
      height: 720,
      times: atRate(25, 3),
      filters: [
        fill(GREEN),
        "scale=out_color_matrix=bt709",
        "format=yuv420p",
        "setparams=colorspace=unknown",
      ].join(","),
    });
    expectNear(centreOf(await drawFrame(video, 0)), GREEN, 3);
    expectNear(centreOf(await drawFrame(await copyOf(video), 0)), GREEN, 3);
  });
});
