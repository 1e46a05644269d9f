import * as z from "zod";
import { requestImages, imagesError } from "./engine-client.ts";
import type { LocalEnv } from "./env.ts";
import { addFault, type ImagesFault, takeFault, toInjectedError } from "./faults.ts";
import { checkOutput, checkTransform, trimmedArea } from "./images-options.ts";

const DECODER_ERROR = "Unexpected error response 500";
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_AREA = 100_000_000;
const MAX_SIDE = 12_000;
/** Formats that production reads on every plan, beside SVG. */
const ACCEPTED = new Set("jpeg png gif webp heic".split(" ").map((name) => `image/${name}`));

type ImagesEnv = Pick<LocalEnv, "ENGINE_URL" | "ENGINE_TOKEN" | "FAULTS"> & {
  IMAGES: ImagesBinding;
};

export interface LocalImages extends ImagesBinding {
  /** Makes the next `times` calls of `info` and `output` fail; `slow:<ms>` delays them instead. */
  inject(fault: ImagesFault, times?: number): Promise<void>;
}

/**
 * Stands in for the Images binding without an account. Wrangler's simulator does width, height,
 * fit, rotate and format; the engine decodes HEIC, and does `trim`, `background`, `segment:
 * "foreground"` and raw pixels. Limits and error codes are production's; other options are
 * rejected. The object lives in the Worker's isolate, like production's: some methods are
 * synchronous, which a service binding can't offer.
 */
export function localImages(env: ImagesEnv): LocalImages {
  return {
    hosted: env.IMAGES.hosted,
    async info(stream, options) {
      await fail(env);
      return describe(env, await readInput(stream, options));
    },
    input: (stream, options) => new Transformer(env, () => readInput(stream, options)),
    text: () =>
      new Transformer(env, () => {
        throw imagesError(9523, "text has no local stand-in");
      }),
    inject: (fault, times = 1) => addFault(env, "IMAGES", fault, times),
  };
}

/** Collects transforms and runs them in order when `output` is called. */
class Transformer implements ImageTransformer {
  readonly #env: ImagesEnv;
  readonly #read: () => Promise<Blob>;
  readonly #transforms: ImageTransform[] = [];
  #hasDraw = false;
  #isUsed = false;

  constructor(env: ImagesEnv, read: () => Promise<Blob>) {
    this.#env = env;
    this.#read = read;
  }

  transform(transform: ImageTransform): this {
    this.#transforms.push(transform);
    return this;
  }

  draw(): this {
    this.#hasDraw = true;
    return this;
  }

  async output(options: ImageOutputOptions): Promise<ImageTransformationResult> {
    if (this.#isUsed) throw imagesError(9525, "ImageTransformer consumed");
    this.#isUsed = true;
    await fail(this.#env);
    if (this.#hasDraw) throw imagesError(9523, "draw has no local stand-in");
    this.#transforms.forEach(checkTransform);
    checkOutput(options);
    const original = await this.#read();
    const info = await describe(this.#env, original);
    if (await isHeif(original)) return this.#apply(await toPng(this.#env, original), options);
    return this.#apply(original, options).catch(async (error: unknown) => {
      // The simulator refuses what decoders only warn of, such as stray bytes in a JPEG.
      if (!isUndecodable(error) || info.format !== "image/jpeg") throw error;
      const area = { left: 0, top: 0, width: info.width, height: info.height };
      return this.#apply(await this.#crop(original, area), options);
    });
  }

  async #apply(original: Blob, options: ImageOutputOptions): Promise<ImageTransformationResult> {
    let image = original;
    for (const [i, { trim, segment, ...transform }] of this.#transforms.entries()) {
      if (trim) image = await this.#crop(image, trim);
      const isLast = i === this.#transforms.length - 1;
      if (isLast && !segment && options.format !== "rgba") {
        return decoded(this.#env.IMAGES.input(image.stream()).transform(transform).output(options));
      }
      image = await this.#render(image, transform);
      if (segment) image = await this.#cutOut(image, options);
    }
    if (options.format === "rgba") {
      return new Pixels(await requestImages(this.#env, "/pixels", image));
    }
    return decoded(this.#env.IMAGES.input(image.stream()).output(options));
  }

  /** Crops before the other operations of the same transform, as production does. */
  async #crop(image: Blob, trim: ImageTransform["trim"]): Promise<Blob> {
    const sides = Object.entries(trimmedArea.parse(trim)).map(
      ([side, value]) => `${side}=${value}`,
    );
    return (await requestImages(this.#env, `/crop?${sides.join("&")}`, image)).blob();
  }

  /** Lays a transparent image on its background, which the simulator doesn't. */
  async #render(image: Blob, transform: ImageTransform): Promise<Blob> {
    if (Object.keys(transform).length === 0) return image;
    const { background, fit } = transform;
    const input = this.#env.IMAGES.input(image.stream()).transform(transform);
    const rendered = await (await decoded(input.output({ format: "image/png" }))).response().blob();
    if (background === undefined || fit === "pad" || !(await hasAlpha(rendered))) return rendered;
    const path = `/flatten?background=${encodeURIComponent(background)}`;
    return (await requestImages(this.#env, path, rendered)).blob();
  }

  /** Cuts out the foreground. JPEG has no alpha: the background is white, as with `fit: "pad"`. */
  async #cutOut(image: Blob, { format }: ImageOutputOptions): Promise<Blob> {
    const background = format === "image/jpeg" ? "white" : "clear";
    return (await requestImages(this.#env, `/cutout?ground=${background}`, image)).blob();
  }
}

/** Whether the colour type of a PNG has alpha. */
async function hasAlpha(png: Blob): Promise<boolean> {
  const [colourType = 0] = await png.slice(25, 26).bytes();
  return (colourType & 4) !== 0;
}

/** Raw RGBA pixels, streamed from the engine. */
class Pixels implements ImageTransformationResult {
  readonly #response: Response;

  constructor(response: Response) {
    this.#response = response;
  }

  response(options: ImageTransformationResponseOptions = {}): Response {
    const headers = new Headers(options.headers);
    headers.set("content-type", this.contentType());
    return new Response(this.#response.body, { headers });
  }

  contentType(): string {
    return "application/octet-stream";
  }

  image(options: ImageTransformationOutputOptions = {}): ReadableStream<Uint8Array> {
    if (options.encoding) throw imagesError(9523, "encoded pixels have no local stand-in");
    if (!this.#response.body) throw imagesError(9523, "no pixels");
    return this.#response.body;
  }
}

async function fail(env: ImagesEnv): Promise<void> {
  const fault = await takeFault(env, "IMAGES");
  if (fault !== null) throw toInjectedError(fault, imagesError);
}

async function readInput(
  stream: ReadableStream<Uint8Array>,
  options: ImageInputOptions | undefined,
): Promise<Blob> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw imagesError(9402, "The image is larger than 20 MB");
    chunks.push(chunk);
  }
  const input = new Blob(chunks);
  return options?.encoding === "base64"
    ? new Blob([Buffer.from(await input.text(), "base64")])
    : input;
}

/** Brands of HEIF files, at byte 8. */
const HEIF_BRAND = /^(?:hei[cmsx]|mif[123]|miaf|avc[is]|jpeg|j2ki)$/;

async function isHeif(image: Blob): Promise<boolean> {
  const head = Buffer.from(await image.slice(4, 12).arrayBuffer()).toString("latin1");
  return head.startsWith("ftyp") && HEIF_BRAND.test(head.slice(4));
}

function isUndecodable(error: unknown): boolean {
  return error instanceof Error && error.message.includes(" 9412: ");
}

/** Decodes a HEIF file, which the simulator can't. */
async function toPng(env: ImagesEnv, image: Blob): Promise<Blob> {
  return (await requestImages(env, "/heif", image)).blob();
}

/** Returns the response of `info`. Throws if the image exceeds a limit of production. */
async function describe(env: ImagesEnv, image: Blob): Promise<ImageInfoResponse> {
  const info = (await isHeif(image))
    ? await describeHeif(env, image)
    : await decoded(env.IMAGES.info(image.stream()));
  if (!("width" in info)) return info;
  const { width, height, format } = info;
  if (format === "image/avif") throw imagesError(9520, "AVIF takes an Enterprise plan");
  if (!ACCEPTED.has(format)) throw imagesError(9520, `${format} is not supported`);
  if (width * height > MAX_AREA) throw imagesError(9413, "The image is over 100 megapixels");
  if (Math.max(width, height) > MAX_SIDE && format !== "image/webp") {
    throw imagesError(9402, "The image is over 12,000 pixels wide or high");
  }
  return info;
}

async function describeHeif(env: ImagesEnv, image: Blob): Promise<ImageInfoResponse> {
  const response = await requestImages(env, "/heif/size", image);
  const size = z.object({ width: z.number(), height: z.number() }).parse(await response.json());
  return { format: "image/heic", fileSize: image.size, ...size };
}

/** Maps the simulator's decoder error, a 500, to production's 9412. */
async function decoded<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const isDecoder = error instanceof Error && error.message.startsWith(DECODER_ERROR);
    throw isDecoder ? imagesError(9412, "The requested file is not an image") : error;
  }
}
