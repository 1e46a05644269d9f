import { BufferSource, Input, MP4 } from "mediabunny";
import { FF_ENCODER_LIBX265 } from "node-av/constants";
import { describe, expect, it } from "vitest";
import { getDisplaySize } from "../../src/media/container/display-size.ts";
import { atRate, makeVideo, rotateVideo, type VideoFile } from "./video-file.ts";

const HEVC = { encoder: FF_ENCODER_LIBX265, pixels: "yuv420p" } as const;
const QUIET = { preset: "ultrafast", "x265-params": "log-level=none" };

/** Returns an MP4 whose codec alone states the shape of its pixels: without the box `pasp`. */
async function makeAnamorphic(file: Partial<VideoFile>): Promise<Buffer<ArrayBuffer>> {
  const video = await makeVideo({ width: 180, height: 144, times: atRate(25, 5), ...file });
  const box = video.indexOf("pasp");
  if (box >= 0) video.write("free", box, "latin1");
  return video;
}

async function sizeOf(video: Buffer<ArrayBuffer>): Promise<[number, number]> {
  using input = new Input({ source: new BufferSource(video), formats: [MP4] });
  const { width, height } = await getDisplaySize((await input.getPrimaryVideoTrack())!);
  return [width, height];
}

describe("an MP4 whose codec states the shape of its pixels", () => {
  it.each<[string, [number, number], Partial<VideoFile>]>([
    ["as two numbers", [256, 144], { filters: "setsar=64/45" }],
    ["by a number of the table", [240, 144], { filters: "setsar=4/3" }],
    ["as narrow", [180, 162], { filters: "setsar=8/9" }],
    ["as square", [180, 144], { filters: "setsar=1" }],
    ["not at all", [180, 144], { filters: "setsar=0" }],
    [
      "in the Baseline profile",
      [240, 144],
      { filters: "setsar=4/3", encoderOptions: { profile: "baseline" } },
    ],
    [
      "with two fields a frame",
      [240, 144],
      { filters: "setsar=4/3", encoderOptions: { flags: "+ildct+ilme" } },
    ],
    [
      "behind scaling lists",
      [240, 144],
      { filters: "setsar=4/3", encoderOptions: { "x264-params": "cqm=jvt" } },
    ],
    ["in HEVC", [256, 144], { filters: "setsar=64/45", codec: HEVC, encoderOptions: QUIET }],
    [
      "in HEVC, as narrow",
      [180, 162],
      { filters: "setsar=8/9", codec: HEVC, encoderOptions: QUIET },
    ],
  ])("has the size that a player shows: %s", async (_, size, file) => {
    expect(await sizeOf(await makeAnamorphic(file))).toEqual(size);
  });

  it("is as high as it is wide when it is turned", async () => {
    const video = rotateVideo(await makeAnamorphic({ filters: "setsar=64/45" }), 90);
    expect(await sizeOf(video)).toEqual([144, 256]);
  });

  it("has its coded size when the codec's parameters are damaged", async () => {
    const video = await makeAnamorphic({ filters: "setsar=64/45" });
    const parameters = video.indexOf("avcC") + 13;
    video.fill(0xff, parameters, parameters + 8);
    expect(await sizeOf(video)).toEqual([180, 144]);
  });
});
