import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { errorOf, rejectionMessage } from "./bindings.ts";

const images = localImages(env);
const PNG = { format: "image/png" } as const;
const boats = { width: 0, height: 0 };

async function file(name: string): Promise<ReadableStream<Uint8Array>> {
  const { body } = await fetch(`${inject("filesOrigin")}/${name}`);
  if (!body) throw new Error(`${name} is empty`);
  return body;
}

/** An error with a code in its message only. */
const withCode = (code: number) => ({ message: expect.stringContaining(`_ERROR ${code}: `) });

async function readSize(stream: ReadableStream<Uint8Array>) {
  const info = await images.info(stream);
  if (!("width" in info)) throw new Error("not an image");
  return info;
}

/** Runs the transforms on a file. */
async function transformFile(
  transforms: ImageTransform[],
  output: ImageOutputOptions = PNG,
  name = "boats.jpg",
): Promise<ImageTransformationResult> {
  const transformer = images.input(await file(name));
  for (const transform of transforms) transformer.transform(transform);
  return transformer.output(output);
}

async function transformedShape(transforms: ImageTransform[], output?: ImageOutputOptions) {
  const { width, height, format } = await readSize(
    (await transformFile(transforms, output)).image(),
  );
  return { width, height, format };
}

/** Returns the colour type of a PNG: 6 has an alpha channel. */
async function readColourType(result: ImageTransformationResult): Promise<number> {
  return (await result.response().bytes())[25]!;
}

beforeAll(async () => {
  const { width, height } = await readSize(await file("boats.jpg"));
  Object.assign(boats, { width, height });
});

describe("the images binding", () => {
  it("decodes and encodes an image once to transform it", async () => {
    const size = { width: 96, height: 96, fit: "scale-down" } as const;
    let passCount = 0;
    const input = (stream: ReadableStream<Uint8Array>) => {
      passCount += 1;
      return env.IMAGES.input(stream);
    };
    const info = (stream: ReadableStream<Uint8Array>) => env.IMAGES.info(stream);
    const counted = localImages({ ...env, IMAGES: { ...env.IMAGES, info, input } });
    const output = { format: "image/jpeg" } as const;
    const made = await counted
      .input(await file("boats.jpg"))
      .transform(size)
      .output(output);
    const passed = await input(await file("boats.jpg"))
      .transform(size)
      .output(output);
    expect(await made.response().bytes()).toEqual(await passed.response().bytes());
    expect(passCount).toBe(2);
  });

  it("info returns the format, size and dimensions of an image", async () => {
    const { byteLength } = await new Response(await file("boats.jpg")).arrayBuffer();
    expect(await images.info(await file("boats.jpg"))).toEqual({
      format: "image/jpeg",
      fileSize: byteLength,
      ...boats,
    });
    const svg = new Blob(['<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>']);
    expect(await images.info(svg.stream())).toEqual({ format: "image/svg+xml" });
  });

  it("shows a JPEG with stray bytes between its segments, as browsers do", async () => {
    const whole = await new Response(await file("boats.jpg")).bytes();
    const tables = Buffer.from(whole).indexOf(Buffer.from("ffdb", "hex"));
    const stray = [whole.subarray(0, tables), new Uint8Array(2), whole.subarray(tables)];
    const shown = await images.input(new Blob(stray).stream()).output(PNG);
    expect(await readSize(shown.image())).toMatchObject({ format: "image/png", ...boats });
    const cut = images.input(new Blob([whole.subarray(0, whole.length / 2)]).stream());
    await expect(cut.output(PNG)).rejects.toMatchObject(withCode(9412));
  });

  it("applies transforms in order", async () => {
    const first = { width: 200, height: 100, fit: "cover" } as const;
    expect(await transformedShape([first])).toMatchObject({ width: 200, height: 100 });
    expect(await transformedShape([first, { rotate: 90 }])).toMatchObject({
      width: 100,
      height: 200,
    });
    expect(await transformedShape([{ rotate: 90 }, first])).toMatchObject({
      width: 200,
      height: 100,
    });
    expect(await transformedShape([first, { width: 50 }])).toMatchObject({ width: 50, height: 25 });
  });

  it("outputs the requested format with its content type", async () => {
    for (const format of ["image/jpeg", "image/png", "image/webp"] as const) {
      const result = await transformFile([{ width: 60 }], { format });
      expect(result.contentType()).toBe(format);
      const response = result.response();
      expect(response.headers.get("content-type")).toBe(format);
      expect(await readSize(response.body!)).toMatchObject({ format, width: 60 });
    }
  });

  it("reads and writes Base64", async () => {
    const bytes = await new Response(await file("words.jpg")).arrayBuffer();
    const encoded = new Blob([Buffer.from(bytes).toString("base64")]).stream();
    const { format } = await readSize(await file("words.jpg"));
    expect(await images.info(encoded, { encoding: "base64" })).toMatchObject({ format });
    const result = await transformFile([{ width: 20 }]);
    const back = await new Response(result.image({ encoding: "base64" })).text();
    const decoded = new Blob([Buffer.from(back, "base64")]).stream();
    expect(await readSize(decoded)).toMatchObject({ width: 20 });
  });
});

describe("trim", () => {
  const trim = { left: 30, top: 10, width: 80, height: 60 };

  it("is applied before the other operations of the same transform", async () => {
    expect(await transformedShape([{ trim }])).toMatchObject({ width: 80, height: 60 });
    expect(await transformedShape([{ trim, width: 40 }])).toMatchObject({ width: 40, height: 30 });
    expect(await transformedShape([{ trim, rotate: 90 }])).toMatchObject({ width: 60, height: 80 });
    expect(
      await transformedShape([{ rotate: 90 }, { trim: { ...trim, height: boats.width - 10 } }]),
    ).toMatchObject({
      width: 80,
      height: boats.width - 10,
    });
  });

  it("is limited to the image", async () => {
    expect(await transformedShape([{ trim: { left: 0, top: 0, ...boats } }])).toMatchObject(boats);
    const beyond = { ...trim, left: boats.width - 79 };
    expect(await errorOf(transformFile([{ trim: beyond }]))).toMatchObject(withCode(9432));
  });

  it("returns exactly the pixels of the area", async () => {
    const whole = await transformFile([{}], { format: "rgba" });
    const cropped = await transformFile([{ trim }], { format: "rgba" });
    const [all, croppedPixels] = await Promise.all(
      [whole, cropped].map((result) => result.response().bytes()),
    );
    const [row, at] = [80 * 4, (trim.top * boats.width + trim.left) * 4];
    expect(croppedPixels!.subarray(0, row)).toEqual(all!.subarray(at, at + row));
  });
});

describe("raw pixels", () => {
  it("have four bytes each", async () => {
    const size = { width: 12, height: 10, fit: "squeeze" } as const;
    const result = await transformFile([size], { format: "rgba" });
    const bytes = new Uint8Array(await result.response().arrayBuffer());
    expect(bytes).toHaveLength(12 * 10 * 4);
    expect(new Set(bytes).size).toBeGreaterThan(20);
    const alphas = bytes.filter((_, i) => i % 4 === 3);
    expect(new Set(alphas)).toEqual(new Set([255]));
  });

  it("are transparent outside the foreground", async () => {
    const result = await transformFile([{ segment: "foreground" }], { format: "rgba" });
    const bytes = new Uint8Array(await new Response(result.image()).arrayBuffer());
    const alphas = new Set(bytes.filter((_, i) => i % 4 === 3));
    expect(alphas).toContain(0);
    expect(alphas).toContain(255);
  });

  it("of an undecodable file are rejected", async () => {
    for (const name of ["videos.log", "truncated.jpg"]) {
      const error = await errorOf(transformFile([{ width: 20 }], { format: "rgba" }, name));
      expect(error).toMatchObject(withCode(9412));
    }
  });
});

describe("a segmented foreground", () => {
  const foreground = { segment: "foreground" } as const;

  it("has a transparent background in any size", async () => {
    expect(await transformedShape([foreground])).toMatchObject(boats);
    expect(await readColourType(await transformFile([foreground]))).toBe(6);
    expect(await readColourType(await transformFile([{ width: 80 }]))).toBe(2);
    const small = { ...foreground, width: 80 };
    expect(await transformedShape([small, { rotate: 90 }])).toMatchObject({
      height: 80,
      format: "image/png",
    });
    expect(await readColourType(await transformFile([small, { rotate: 90 }]))).toBe(6);
  });

  it("is laid on a background of its own, as every transparent image is", async () => {
    const layers = [
      { ...foreground, width: 80 },
      { width: 80, background: "#808080" },
    ];
    const pixels = await (await transformFile(layers, { format: "rgba" })).response().bytes();
    const starts = Array.from({ length: pixels.length / 4 }, (_, pixel) => pixel * 4);
    const greys = starts.filter((at) =>
      pixels.subarray(at, at + 3).every((value) => value === 128),
    );
    expect(greys.length).toBeGreaterThan(100);
    expect(new Set(pixels.filter((_, i) => i % 4 === 3))).toEqual(new Set([255]));
  });

  it("has a white background in a JPEG", async () => {
    const result = await transformFile([{ ...foreground, width: 80 }], { format: "image/jpeg" });
    expect(await readSize(result.image())).toMatchObject({ format: "image/jpeg", width: 80 });
  });
});

describe("the images binding rejects", () => {
  it.for<[string, object, object, RegExp]>([
    ["a width of 0 pixels", { width: 0 }, PNG, /9432: Bad request: invalid width: 0/],
    ["a height of 12,001 pixels", { height: 12_001 }, PNG, /9432: .*height/],
    ["an unknown fit", { fit: "fill" }, PNG, /9432: .*fit/],
    ["an unknown option", { zoom: 2 }, PNG, /9432: .*zoom/],
    ["a rotation by 45°", { rotate: 45 }, PNG, /9432: .*rotate/],
    ["another segment", { segment: "sky" }, PNG, /9432: .*segment/],
    [
      "a trim without width",
      { trim: { left: 0, top: 0, width: 0, height: 5 } },
      PNG,
      /9432: .*trim/,
    ],
    [
      "a trim by half pixels",
      { trim: { left: 0.5, top: 0, width: 5, height: 5 } },
      PNG,
      /9432: .*trim/,
    ],
    ["an unknown side", { trim: { start: 1 } }, PNG, /9432: .*trim/],
    ["an empty trim", { trim: {} }, PNG, /9432: .*trim/],
    ["a trimmed border", { trim: "border" }, PNG, /9523: trim.*no local stand-in/],
    ["trimmed sides", { trim: { right: 5 } }, PNG, /9523: trim.*no local stand-in/],
    ["a short format name", {}, { format: "png" }, /9432: .*format/],
    ["blur", { blur: 5 }, PNG, /9523: blur: 5 has no local stand-in/],
    ["gravity by faces", { gravity: "face" }, PNG, /9523: gravity.*no local stand-in/],
    ["a background by name", { background: "red" }, PNG, /9523: background.*no local stand-in/],
    ["GIF", {}, { format: "image/gif" }, /9523: format.*no local stand-in/],
    ["pixels without alpha", {}, { format: "rgb" }, /9523: format.*no local stand-in/],
    ["a quality", {}, { ...PNG, quality: 50 }, /9523: quality.*no local stand-in/],
  ])("%s", async ([, transform, output, message]) => {
    const request: { transform: ImageTransform; output: ImageOutputOptions } = JSON.parse(
      JSON.stringify({ transform, output }),
    );
    expect(await rejectionMessage(transformFile([request.transform], request.output))).toMatch(
      message,
    );
  });

  it("a file that is no image, and a truncated one", async () => {
    expect(await errorOf(images.info(await file("videos.log")))).toMatchObject(withCode(9412));
    for (const name of ["videos.log", "truncated.jpg"]) {
      for (const transform of [{ width: 20 }, { segment: "foreground" } as const]) {
        const error = await errorOf(transformFile([transform], PNG, name));
        expect(error).toMatchObject(withCode(9412));
      }
    }
  });

  it("an image over 20 MB", async () => {
    const stream = () => new Blob([new Uint8Array(20 * 1024 * 1024 + 1)]).stream();
    expect(await errorOf(images.info(stream()))).toMatchObject(withCode(9402));
    expect(await errorOf(images.input(stream()).output(PNG))).toMatchObject(withCode(9402));
  });

  it("draw and text", async () => {
    const transformer = images.input(await file("boats.jpg")).draw(await file("words.jpg"));
    expect(await rejectionMessage(transformer.output(PNG))).toMatch(
      /9523: draw has no local stand-in/,
    );
    const text = images.text("Ahoy", { font: { url: "https://fonts.test/a.ttf" } });
    expect(await rejectionMessage(text.output(PNG))).toMatch(/9523: text has no local stand-in/);
  });

  it("a second output", async () => {
    const transformer = images.input(await file("boats.jpg"));
    await transformer.output(PNG);
    expect(await errorOf(transformer.output(PNG))).toMatchObject(withCode(9525));
  });
});

describe("an injected fault of the images binding", () => {
  it("fails or delays the next call, each fault once", async () => {
    await images.inject("9523");
    await images.inject("9422");
    await images.inject("slow:200");
    expect(await errorOf(images.info(await file("boats.jpg")))).toMatchObject(withCode(9523));
    expect(await errorOf(transformFile([]))).toMatchObject(withCode(9422));
    const start = Date.now();
    expect(await images.info(await file("boats.jpg"))).toMatchObject(boats);
    expect(Date.now() - start).toBeGreaterThanOrEqual(200);
  });
});
