import { askForImages, imagesError } from "./engine-client.ts";
import type { LocalEnv } from "./env.ts";
import { addFault, type ImagesFault, takeFault } from "./faults.ts";
import { checkOutput, checkTransform, trimmedArea } from "./images-options.ts";

const DECODER_ERROR = "Unexpected error response 500";
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_AREA = 100_000_000;
const MAX_SIDE = 12_000;

type ImagesEnv = Pick<LocalEnv, "ENGINE_URL" | "ENGINE_TOKEN" | "FAULTS"> & {
  IMAGES: ImagesBinding;
};

export interface LocalImages extends ImagesBinding {
  /** Makes the next `times` calls of `info` and `output` fail; `slow:<ms>` only delays them. */
  inject(fault: ImagesFault, times?: number): Promise<void>;
}

/**
 * The Images binding without an account: the simulator's (width, height, fit, rotate, format), with
 * production's limits and error codes around it, and `trim`, `segment: "foreground"` and bare pixels by
 * the engine. What neither can do is refused. It is an object in the Worker's own isolate, as production's is: parts
 * of it answer at once, which a binding to another Worker can't.
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

/** Remembers what is asked for and does it, in this order, when the output is. */
class Transformer implements ImageTransformer {
  readonly #env: ImagesEnv;
  readonly #read: () => Promise<Blob>;
  readonly #transforms: ImageTransform[] = [];
  #isDrawn = false;
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
    this.#isDrawn = true;
    return this;
  }

  async output(options: ImageOutputOptions): Promise<ImageTransformationResult> {
    if (this.#isUsed) throw imagesError(9525, "ImageTransformer consumed");
    this.#isUsed = true;
    await fail(this.#env);
    if (this.#isDrawn) throw imagesError(9523, "draw has no local stand-in");
    this.#transforms.forEach(checkTransform);
    checkOutput(options);
    let picture = await this.#read();
    await describe(this.#env, picture);
    for (const { trim, segment, ...transform } of this.#transforms) {
      if (trim) picture = await this.#crop(picture, trim);
      picture = await this.#render(picture, transform);
      if (segment) picture = await this.#cutOut(picture, options);
    }
    if (options.format === "rgba") {
      return new Pixels(await askForImages(this.#env, "/pixels", picture));
    }
    return decoded(this.#env.IMAGES.input(picture.stream()).output(options));
  }

  /** Before anything else of the same transform, as production does it. */
  async #crop(picture: Blob, trim: ImageTransform["trim"]): Promise<Blob> {
    const sides = Object.entries(trimmedArea.parse(trim)).map(
      ([side, value]) => `${side}=${value}`,
    );
    return (await askForImages(this.#env, `/crop?${sides.join("&")}`, picture)).blob();
  }

  async #render(picture: Blob, transform: ImageTransform): Promise<Blob> {
    if (Object.keys(transform).length === 0) return picture;
    const input = this.#env.IMAGES.input(picture.stream()).transform(transform);
    return (await decoded(input.output({ format: "image/png" }))).response().blob();
  }

  /** JPEG knows no transparency: white, as production fills with `fit: "pad"`, takes its place. */
  async #cutOut(picture: Blob, { format }: ImageOutputOptions): Promise<Blob> {
    const ground = format === "image/jpeg" ? "white" : "clear";
    return (await askForImages(this.#env, `/cutout?ground=${ground}`, picture)).blob();
  }
}

/** What the engine decoded, as it came. */
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
  if (fault !== null) throw imagesError(Number(fault), "injected");
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

/** What `info` answers; throws where the picture is larger than production takes. */
async function describe({ IMAGES }: ImagesEnv, picture: Blob): Promise<ImageInfoResponse> {
  const info = await decoded(IMAGES.info(picture.stream()));
  if (!("width" in info)) return info;
  const { width, height, format } = info;
  if (width * height > MAX_AREA) throw imagesError(9413, "The image is over 100 megapixels");
  if (Math.max(width, height) > MAX_SIDE && format !== "image/webp") {
    throw imagesError(9402, "The image is over 12,000 pixels wide or high");
  }
  return info;
}

/** The simulator lets its decoder's error through as a 500 where production says 9412. */
async function decoded<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const isDecoder = error instanceof Error && error.message.startsWith(DECODER_ERROR);
    throw isDecoder ? imagesError(9412, "The requested file is not an image") : error;
  }
}
