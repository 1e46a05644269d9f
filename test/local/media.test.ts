import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import { localMedia } from "../../local/local-media.ts";
import { errorOf, rejectionMessage } from "./bindings.ts";

const frames = localMedia(env);

async function file(name: string): Promise<ReadableStream<Uint8Array>> {
  const { body } = await fetch(`${inject("filesOrigin")}/${name}`);
  if (!body) throw new Error(`${name} is empty`);
  return body;
}

async function readSize(
  response: Response,
): Promise<{ format: string; width: number; height: number }> {
  const info = await env.IMAGES.info(response.body!);
  if (!("width" in info)) throw new Error("not an image");
  const { format, width, height } = info;
  return { format, width, height };
}

async function readContactSheetSize(
  time: string,
  size: MediaTransformationInputOptions = { width: 80 },
  sizeOf = "tile",
): Promise<{ width: number; height: number }> {
  const output = localMedia({ ...env, SHEET_SIZE_OF: sizeOf })
    .input(await file("clip.mp4"))
    .transform(size)
    .output({ mode: "spritesheet", time, duration: "2s", imageCount: 7 });
  return readSize(await output.response());
}

describe("the media binding", () => {
  it("extracts a frame", async () => {
    const response = await frames
      .input(await file("clip.mp4"))
      .transform({ width: 160, height: 160, fit: "contain" })
      .output({ mode: "frame", time: "2.5s", format: "png" })
      .response();
    expect(response.headers.get("content-type")).toBe("image/png");
    expect(await readSize(response)).toEqual({ format: "image/png", width: 160, height: 90 });
  });

  it("extracts a frame without a transformation as JPEG", async () => {
    const result = frames.input(await file("clip.mp4")).output({ mode: "frame" });
    expect(await result.contentType()).toBe("image/jpeg");
    const size = await readSize(new Response(await result.media()));
    expect(size).toEqual({ format: "image/jpeg", width: 320, height: 180 });
  });

  it("lays out contact sheets with columns that vary by input but not by run", async () => {
    const columns = new Set<number>();
    for (const time of ["0s", "1s", "1.001s", "1.002s"]) {
      const { width, height } = await readContactSheetSize(time);
      columns.add(width / 80);
      expect(height).toBe(Math.ceil(7 / (width / 80)) * 45);
    }
    expect(columns.size).toBeGreaterThan(1);
    expect(await readContactSheetSize("1s")).toEqual(await readContactSheetSize("1s"));
  });

  it("makes contact sheets that fit into the requested size", async () => {
    for (const time of ["0s", "1s", "1.001s"]) {
      const { width, height } = await readContactSheetSize(
        time,
        { width: 90, height: 70 },
        "sheet",
      );
      expect(Math.max(width / 90, height / 70)).toBe(1);
    }
  });

  it("cuts a clip that it accepts as input, and its audio", async () => {
    const clip = frames
      .input(await file("clip.mp4"))
      .transform({ width: 160 })
      .output({ mode: "video", time: "2s", duration: "2s", audio: false });
    expect(await clip.contentType()).toBe("video/mp4");
    const reencoded = frames.input(await clip.media()).output({ mode: "frame", time: "1s" });
    expect(await readSize(await reencoded.response())).toMatchObject({ width: 160, height: 90 });
    const audio = frames.input(await file("clip.mp4")).output({
      mode: "audio",
      duration: "3s",
    });
    const response = await audio.response();
    expect(response.headers.get("content-type")).toBe("audio/mp4");
    expect((await response.bytes()).length).toBeGreaterThan(1000);
  });
});

describe("the media binding rejects", () => {
  const frame = { mode: "frame" } as const;

  it.for<[string, MediaTransformationInputOptions, MediaTransformationOutputOptions, RegExp]>([
    ["a width of 9 pixels", { width: 9 }, frame, /9401: width must be 10–2000/],
    ["a height of 2,001 pixels", { height: 2001 }, frame, /9401: height/],
    ["a fractional width", { width: 20.5 }, frame, /9401: width/],
    ["an unknown fit", { fit: JSON.parse('"crop"') }, frame, /9401: unknown fit/],
    ["an unknown mode", {}, { mode: JSON.parse('"gif"') }, /9401: unknown mode/],
    ["a PNG contact sheet", {}, { mode: "spritesheet", format: "png" }, /9401: format/],
    ["a frame as audio", {}, { mode: "frame", format: "m4a" }, /9401: format/],
    ["a time without a unit", {}, { mode: "frame", time: "2" }, /9401: time/],
    ["a negative time", {}, { mode: "frame", time: "-1s" }, /9401: time/],
    ["a time after the end", {}, { mode: "frame", time: "1m2s" }, /9401: time is beyond the end/],
    [
      "a duration of half a second",
      {},
      { mode: "video", duration: "0.5s" },
      /9401: duration must be 1–60/,
    ],
    [
      "a duration of 61 seconds",
      {},
      { mode: "audio", duration: "1m1s" },
      /9401: duration must be 1–60/,
    ],
    [
      "a contact sheet without frames",
      {},
      { mode: "spritesheet", imageCount: 0 },
      /9401: imageCount/,
    ],
  ])("%s", async ([, transform, output, message]) => {
    const result = frames
      .input(await file("clip.mp4"))
      .transform(transform)
      .output(output);
    expect(await rejectionMessage(result.response())).toMatch(message);
  });

  it.for<[string, string, RegExp]>([
    ["another codec", "vp9.mp4", /9412: unsupported video: vp9/],
    ["a video of more than ten minutes", "long.mp4", /9402: .* 10 minutes/],
    ["a file that isn't media", "videos.log", /9412/],
  ])("%s", async ([, name, message]) => {
    const result = frames.input(await file(name)).output(frame);
    expect(await rejectionMessage(result.response())).toMatch(message);
  });

  /** Streams megabytes, whose number the reader doesn't know. */
  function megabytes(count: number): ReadableStream<Uint8Array> {
    let remaining = count;
    return new ReadableStream({
      type: "bytes",
      pull(controller) {
        controller.enqueue(new Uint8Array(1_000_000));
        remaining -= 1;
        if (remaining === 0) controller.close();
      },
    });
  }

  it("an input of 100 MB", async () => {
    const { readable, writable } = new FixedLengthStream(100_000_000);
    const writing = megabytes(100)
      .pipeTo(writable)
      .catch(() => {});
    expect(await rejectionMessage(frames.input(readable).output(frame).response())).toMatch(
      /9402.*100 MB/,
    );
    await writing;
  });

  it("an input of unknown length", async () => {
    const { body } = await fetch(`${inject("filesOrigin")}/clip.mp4`);
    const unknown = body!.pipeThrough(new TransformStream<Uint8Array, Uint8Array>());
    expect(await rejectionMessage(frames.input(unknown).output(frame).response())).toMatch(
      /9401: the length/,
    );
  });

  it("a second output of one input, and a second reading of one output", async () => {
    const input = frames.input(await file("clip.mp4"));
    const result = input.output(frame);
    await (await result.response()).bytes();
    expect(await rejectionMessage(result.media())).toMatch(/9401: the output was used before/);
    expect(await rejectionMessage(input.output(frame).response())).toMatch(
      /9401: the input was used before/,
    );
  });

  it("an invalid option with its code in the message only", async () => {
    const result = frames
      .input(await file("clip.mp4"))
      .transform({ width: 1 })
      .output(frame);
    const error = await errorOf(result.response());
    expect(error).toMatchObject({ name: "Error", message: expect.stringMatching(/ 9401: /) });
    expect(error).not.toHaveProperty("code");
  });
});

describe("an injected fault of the media binding", () => {
  const frame = async () => frames.input(await file("clip.mp4")).output({ mode: "frame" });

  it.for([
    ["9412", { name: "Error", message: "MEDIA_TRANSFORM_ERROR 9412: injected" }],
    ["9504 coded", { name: "MediaError", code: 9504 }],
    ["9523 cf_resized", { name: "Error", message: "injected (Cf-Resized: err=9523)" }],
  ] as const)("%s is thrown as often as injected", async ([fault, error]) => {
    await frames.inject(fault, 2);
    expect(await errorOf((await frame()).response())).toMatchObject(error);
    expect(await errorOf((await frame()).contentType())).toMatchObject(error);
    expect(await (await frame()).contentType()).toBe("image/jpeg");
  });

  it("of type slow delays the output", async () => {
    await frames.inject("slow:300");
    const start = Date.now();
    expect(await (await frame()).contentType()).toBe("image/jpeg");
    expect(Date.now() - start).toBeGreaterThanOrEqual(300);
  });

  it("of type malformed truncates the image", async () => {
    await frames.inject("malformed");
    const response = await (await frame()).response();
    expect(response.headers.get("content-type")).toBe("image/jpeg");
    await expect(readSize(response)).rejects.toThrow();
    expect(await readSize(await (await frame()).response())).toMatchObject({ width: 320 });
  });
});
