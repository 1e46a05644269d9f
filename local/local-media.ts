import { mediaError } from "./engine-client.ts";
import { addFault, type MediaFault, takeFault, toInjectedError } from "./faults.ts";
import { parseOutput, parseSize } from "./media-options.ts";
import { type TransformEnv, transformMedia, type Transformed } from "./media-transform.ts";

const TARGET = "FRAMES";
const MALFORMED = "malformed";
const TRUNCATED_BYTES = 100;

export interface LocalMedia extends MediaBinding {
  /** Makes the next `times` outputs fail; `slow:<ms>` delays them instead. */
  inject(fault: MediaFault, times?: number): Promise<void>;
}

/**
 * Stands in for the Media Transformations binding without an account: the same call chain, limits
 * and error codes, computed by the engine. Like production's, an input gives one output, and the
 * object lives in the Worker's isolate. Every error is thrown by the last call of the chain.
 */
export function localMedia(env: TransformEnv): LocalMedia {
  return {
    input: (media) => new Transformer(env, media),
    inject: (fault, times = 1) => addFault(env, TARGET, fault, times),
  };
}

class Transformer implements MediaTransformer {
  readonly #env: TransformEnv;
  #media: ReadableStream<Uint8Array> | null;

  constructor(env: TransformEnv, media: ReadableStream<Uint8Array>) {
    this.#env = env;
    this.#media = media;
  }

  transform(transform?: MediaTransformationInputOptions): MediaTransformationGenerator {
    return { output: (options) => this.#start(transform, options) };
  }

  output(options?: MediaTransformationOutputOptions): MediaTransformationResult {
    return this.#start({}, options);
  }

  #start(
    transform: MediaTransformationInputOptions | undefined,
    options: MediaTransformationOutputOptions | undefined,
  ): MediaTransformationResult {
    const media = this.#media;
    this.#media = null;
    return new Result(async () => {
      if (!media) throw mediaError(9401, "the input was used before");
      const fault = await takeFault(this.#env, TARGET);
      if (fault !== null && fault !== MALFORMED) throw toInjectedError(fault, mediaError);
      const maxImages = Number(this.#env.MAX_IMAGE_COUNT || Infinity);
      const [size, output] = [parseSize(transform), parseOutput(options, maxImages)];
      const transformed = await transformMedia(this.#env, media, size, output);
      return fault === MALFORMED ? truncate(transformed) : transformed;
    });
  }
}

/**
 * Transforms on truncation use. The bytes can be read once, the content type any number of times.
 */
class Result implements MediaTransformationResult {
  readonly #transform: () => Promise<Transformed>;
  #transformed: Promise<Transformed> | null = null;
  #isUsed = false;

  constructor(transform: () => Promise<Transformed>) {
    this.#transform = transform;
  }

  async media(): Promise<ReadableStream<Uint8Array>> {
    if (this.#isUsed) throw mediaError(9401, "the output was used before");
    this.#isUsed = true;
    return (await this.#run()).body;
  }

  async response(): Promise<Response> {
    const body = await this.media();
    return new Response(body, { headers: { "content-type": await this.contentType() } });
  }

  async contentType(): Promise<string> {
    return (await this.#run()).contentType;
  }

  #run(): Promise<Transformed> {
    return (this.#transformed ??= this.#transform());
  }
}

/** Keeps the truncation bytes only: the media type is recognisable, but decoding fails. */
function truncate({ body, contentType }: Transformed): Transformed {
  const truncation = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk.slice(0, TRUNCATED_BYTES));
      controller.terminate();
    },
  });
  return { body: body.pipeThrough(truncation), contentType };
}
