import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, readError, startEngine } from "./engine-process.ts";
import { atRate, makeVideo, readFrameNumber, rotateVideo } from "./video-file.ts";

let engine: Engine;
let video: Buffer<ArrayBuffer>;

beforeAll(async () => {
  engine = await startEngine();
  video = await makeVideo({ times: atRate(25, 250), keyframeEvery: 60, audioSeconds: 10 });
});
afterAll(async () => {
  await engine.stop();
});

async function extractFrameNumber(file: Buffer<ArrayBuffer>, time: number): Promise<number> {
  const response = await engine.post(`/media/frame?time=${time}&format=png`, file);
  expect(response.status).toBe(200);
  return readFrameNumber(Buffer.from(await response.arrayBuffer()));
}

describe("a probe of a video", () => {
  it("returns the container, the duration, the video and the audio stream", async () => {
    const response = await engine.post("/media/probe", video);
    expect(await response.json()).toMatchObject({
      container: expect.stringContaining("mp4"),
      duration_seconds: expect.closeTo(10, 1),
      video: { codec: "h264", width: 160, height: 96, fps: 25, rotation: 0 },
      audio: { codec: "aac", sample_rate: 48_000, channels: 1 },
    });
  });

  it("returns the display size of a rotated video", async () => {
    const response = await engine.post("/media/probe", rotateVideo(video, 90));
    expect(await response.json()).toMatchObject({
      video: { width: 96, height: 160, rotation: 90 },
    });
  });
});

describe("an extracted frame", () => {
  it.each([0, 0.039, 0.04, 0.05, 2.36, 2.4, 2.44, 4.9, 7.19, 7.2, 9.96])(
    "at %s s is the one on screen",
    async (time) => {
      expect(await extractFrameNumber(video, time)).toBe(Math.floor(time * 25 + 1e-6));
    },
  );

  it("after the end is the last one", async () => {
    expect(await extractFrameNumber(video, 10)).toBe(249);
    expect(await extractFrameNumber(video, 3_600)).toBe(249);
  });

  it("is the same until the next one starts", async () => {
    const slow = await makeVideo({ times: [0, 1_000, 5_500, 5_600], keyframeEvery: 1 });
    expect(await extractFrameNumber(slow, 0.9)).toBe(0);
    expect(await extractFrameNumber(slow, 5.4)).toBe(1);
    expect(await extractFrameNumber(slow, 5.55)).toBe(2);
  });

  it.each(["matroska", "mpegts", "avi"] as const)("is exact in %s", async (container) => {
    const file = await makeVideo({ times: atRate(25, 120), keyframeEvery: 30, container });
    for (const index of [0, 17, 29, 30, 61, 119]) {
      expect(await extractFrameNumber(file, index / 25 + 0.01)).toBe(index);
    }
  });

  it.each([
    ["width=80", 80, 48],
    ["height=24", 40, 24],
    ["width=100&height=100", 100, 60],
    ["width=320&height=320&fit=scale-down", 160, 96],
    ["width=50&height=90&fit=cover", 50, 90],
  ])("requested with %s is %i×%i", async (query, width, height) => {
    const response = await engine.post(`/media/frame?${query}`, video);
    expect(response.headers.get("content-type")).toBe("image/jpeg");
    const meta = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
    expect([meta.format, meta.width, meta.height]).toEqual(["jpeg", width, height]);
  });

  it.each([
    [90, "top"],
    [270, "bottom"],
  ] as const)("of a video rotated by %i° has its left side at the %s", async (degrees, side) => {
    const rotated = rotateVideo(await makeVideo({ times: [0, 40] }), degrees);
    const response = await engine.post("/media/frame?time=1&format=png", rotated);
    const { data, info } = await sharp(Buffer.from(await response.arrayBuffer()))
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height]).toEqual([96, 160]);
    const [top, bottom] = [data[3 * 96] ?? 0, data[156 * 96] ?? 0];
    expect(side === "top" ? top - bottom : bottom - top).toBeGreaterThan(150);
  });

  it("of a video rotated by 180° has its left side on the right", async () => {
    const rotated = rotateVideo(await makeVideo({ times: [0, 40] }), 180);
    expect(await extractFrameNumber(rotated, 1)).toBe(0b1000_0000);
  });
});

describe("a contact sheet", () => {
  it("contains evenly spaced frames in row-major order", async () => {
    const query = "time=1&duration=6&count=10&columns=4&width=160&format=png";
    const response = await engine.post(`/media/sheet?${query}`, video);
    expect(response.headers.get("content-type")).toBe("image/png");
    expect(response.headers.get("x-sheet-columns")).toBe("4");
    expect(response.headers.get("x-sheet-rows")).toBe("3");
    const contactSheet = Buffer.from(await response.arrayBuffer());
    expect(await sharp(contactSheet).metadata()).toMatchObject({ width: 640, height: 288 });
    const frameNumbers = Array.from({ length: 10 }, async (_, index) => {
      const [left, top] = [(index % 4) * 160, Math.floor(index / 4) * 96];
      const tile = sharp(contactSheet).extract({ left, top, width: 160, height: 96 });
      return readFrameNumber(await tile.png().toBuffer());
    });
    const expected = Array.from({ length: 10 }, (_, index) =>
      Math.floor((1 + index * 0.6) * 25 + 1e-6),
    );
    expect(await Promise.all(frameNumbers)).toEqual(expected);
  });

  it("of a requested size has its frames in a grid of that size", async () => {
    const query = "time=1&duration=6&count=10&columns=4&width=606&height=600&size_of=sheet";
    const response = await engine.post(`/media/sheet?${query}&format=png`, video);
    const contactSheet = Buffer.from(await response.arrayBuffer());
    const size = { width: 606, height: 273 };
    expect(await sharp(contactSheet).metadata()).toMatchObject(size);
    const frameNumbers = Array.from({ length: 10 }, async (_, index) => {
      const left = Math.floor(((index % 4) * size.width) / 4);
      const top = Math.floor((Math.floor(index / 4) * size.height) / 3);
      const tile = sharp(contactSheet).extract({ left, top, width: 151, height: 91 });
      return readFrameNumber(await tile.png().toBuffer());
    });
    const expected = Array.from({ length: 10 }, (_, index) =>
      Math.floor((1 + index * 0.6) * 25 + 1e-6),
    );
    expect(await Promise.all(frameNumbers)).toEqual(expected);
  });

  it("repeats a frame that stays on screen", async () => {
    const query = "time=0&duration=0.02&count=4&columns=4&width=160&format=png";
    const response = await engine.post(`/media/sheet?${query}`, video);
    const contactSheet = sharp(Buffer.from(await response.arrayBuffer()));
    const last = await contactSheet
      .extract({ left: 480, top: 0, width: 160, height: 96 })
      .png()
      .toBuffer();
    expect(await readFrameNumber(last)).toBe(0);
  });

  it("is spread over the time up to the end", async () => {
    const query = "time=8&duration=60&count=4&columns=4&width=160&format=png";
    const response = await engine.post(`/media/sheet?${query}`, video);
    const contactSheet = Buffer.from(await response.arrayBuffer());
    const frameNumbers = [0, 160, 320, 480].map(async (left) => {
      const tile = sharp(contactSheet).extract({ left, top: 0, width: 160, height: 96 });
      return readFrameNumber(await tile.png().toBuffer());
    });
    expect(await Promise.all(frameNumbers)).toEqual([200, 212, 225, 237]);
  });

  it("has the result of a probe in a header, as a frame has", async () => {
    const probeResult: unknown = await (await engine.post("/media/probe", video)).json();
    for (const path of ["/media/sheet", "/media/frame"]) {
      const { headers } = await engine.post(path, video);
      expect(JSON.parse(headers.get("x-media-facts") ?? "")).toEqual(probeResult);
    }
  });

  it("that starts after the end is rejected", async () => {
    const response = await engine.post("/media/sheet?time=11&duration=1&count=4", video);
    expect(await readError(response)).toEqual([422, "time_out_of_range"]);
  });
});

describe("a clip", () => {
  it("is H.264 and AAC with the index in front, and begins with the frame on screen", async () => {
    const response = await engine.post("/media/clip?time=3.05&duration=2&width=80", video);
    expect(response.headers.get("content-type")).toBe("video/mp4");
    const clip = Buffer.from(await response.arrayBuffer());
    expect(clip.indexOf("moov")).toBeLessThan(clip.indexOf("mdat"));
    expect(await (await engine.post("/media/probe", clip)).json()).toMatchObject({
      duration_seconds: expect.closeTo(2, 1),
      video: { codec: "h264", width: 80, height: 48 },
      audio: { codec: "aac", channels: 1 },
    });
    expect(await extractFrameNumber(clip, 0)).toBe(76);
    expect(await extractFrameNumber(clip, 1.001)).toBe(101);
  });

  it("of one long frame has the requested duration", async () => {
    const longFrame = await makeVideo({ times: [0, 8_000, 8_040], keyframeEvery: 1 });
    const response = await engine.post("/media/clip?time=1&duration=5", longFrame);
    const clip = Buffer.from(await response.arrayBuffer());
    expect(await (await engine.post("/media/probe", clip)).json()).toMatchObject({
      duration_seconds: expect.closeTo(5, 1),
      audio: null,
    });
  });

  it("has no audio if it is not requested", async () => {
    const response = await engine.post("/media/clip?time=0&duration=1&audio=false", video);
    const clip = Buffer.from(await response.arrayBuffer());
    expect(await (await engine.post("/media/probe", clip)).json()).toMatchObject({ audio: null });
  });
});

describe("an audio clip", () => {
  it("is AAC of the requested duration", async () => {
    const response = await engine.post("/media/audio?time=4&duration=3", video);
    expect(response.headers.get("content-type")).toBe("audio/mp4");
    const audioClip = Buffer.from(await response.arrayBuffer());
    expect(await (await engine.post("/media/probe", audioClip)).json()).toMatchObject({
      duration_seconds: expect.closeTo(3, 1),
      video: null,
      audio: { codec: "aac", sample_rate: 48_000, channels: 1 },
    });
  });

  it("is rejected if the file has no audio or ends before", async () => {
    const silent = await makeVideo({ times: atRate(25, 10) });
    const [withoutAudio, afterEnd] = await Promise.all([
      engine.post("/media/audio", silent),
      engine.post("/media/audio?time=20", video),
    ]);
    expect(await readError(withoutAudio)).toEqual([422, "no_audio"]);
    expect(await readError(afterEnd)).toEqual([422, "time_out_of_range"]);
  });
});

describe("a damaged or unsupported file", () => {
  it("that is truncated gives its last frame", async () => {
    const complete = await makeVideo({ times: atRate(25, 200), container: "matroska" });
    const response = await engine.post(
      "/media/frame?time=7&format=png",
      complete.subarray(0, complete.length / 2),
    );
    expect(response.status).toBe(200);
    expect(await readFrameNumber(Buffer.from(await response.arrayBuffer()))).toBeGreaterThan(50);
  });

  it("with changed bytes gives a result or an error code", async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const broken = Buffer.from(video);
      for (let at = seed * 97; at < broken.length; at += 701 + seed * 13)
        broken[at] = (at * seed) & 255;
      for (const path of ["/media/probe", "/media/frame?time=5", "/media/clip?time=4&duration=1"]) {
        const response = await engine.post(path, broken);
        expect([200, 422]).toContain(response.status);
        await response.arrayBuffer();
      }
    }
  });

  it.each([
    ["nothing", Buffer.alloc(0)],
    ["zeros", Buffer.alloc(5_000)],
    ["a text", Buffer.from("Just some words. ".repeat(50))],
    ["a playlist", Buffer.from("#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n")],
  ])("that contains %s is rejected", async (_, bytes) => {
    for (const path of [
      "/media/probe",
      "/media/frame",
      "/media/sheet",
      "/media/clip",
      "/media/audio",
    ]) {
      const error = await readError(await engine.post(path, bytes));
      expect(error).toEqual([422, "undecodable_media"]);
    }
  });

  it("that is an image is rejected", async () => {
    const create = { width: 64, height: 64, channels: 3, background: "red" } as const;
    for (const type of ["png", "avif", "gif"] as const) {
      const image = await sharp({ create }).toFormat(type).toBuffer();
      const error = await readError(await engine.post("/media/frame", Buffer.from(image)));
      expect(error).toEqual([422, "undecodable_media"]);
    }
  });
});

describe("an invalid parameter", () => {
  it.each([
    "/media/frame?time=-1",
    "/media/frame?time=soon",
    "/media/frame?width=0",
    "/media/frame?width=1.5",
    "/media/frame?width=9999",
    "/media/frame?fit=fill",
    "/media/frame?format=gif",
    "/media/sheet?count=0",
    "/media/sheet?count=1000",
    "/media/clip?duration=0",
    "/media/clip?audio=loud",
  ])("is rejected: %s", async (path) => {
    expect(await readError(await engine.post(path, video))).toEqual([400, "bad_request"]);
  });
});
