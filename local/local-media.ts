import { type EngineEnv, mediaError } from "./engine-client.ts";
import type { LocalEnv } from "./env.ts";
import { addFault, type MediaFault, takeFault } from "./faults.ts";
import { parseOutput, parseSize } from "./media-options.ts";
import { transformMedia, type Transformed } from "./media-transform.ts";

const PLACE = "FRAMES";
const MALFORMED = "malformed";
const CUT_BYTES = 100;

type FramesEnv = EngineEnv & Pick<LocalEnv, "FAULTS">;

export interface LocalMedia extends MediaBinding {
  /** Makes the next `times` outputs fail; `slow:<ms>` only delays them. */
  inject(fault: MediaFault, times?: number): Promise<void>;
}

/**
 * The Media Transformations binding without an account: the same chain, limits and error codes,
 * with the engine behind it. As in production an input gives one output, and it is an object in the
 * Worker's own isolate. Every error comes from the last call.
 */
export function localMedia(env: FramesEnv): LocalMedia {
  return {
    input: (media) => new Transformer(env, media),
    inject: (fault, times = 1) => addFault(env, PLACE, fault, times),
  };
}

class Transformer implements MediaTransformer {
  readonly #env: FramesEnv;
  #media: ReadableStream<Uint8Array> | null;

  constructor(env: FramesEnv, media: ReadableStream<Uint8Array>) {
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
      const fault = await takeFault(this.#env, PLACE);
      if (fault !== null && fault !== MALFORMED) throw mediaError(Number(fault), "injected");
      const [size, output] = [parseSize(transform), parseOutput(options)];
      const transformed = await transformMedia(this.#env, media, size, output);
      return fault === MALFORMED ? cutOff(transformed) : transformed;
    });
  }
}

/** Transforms when it is first asked; the bytes can be taken once, their type at any time. */
class Result implements MediaTransformationResult {
  readonly #transform: () => Promise<Transformed>;
  #transformed: Promise<Transformed> | null = null;
  #taken = false;

  constructor(transform: () => Promise<Transformed>) {
    this.#transform = transform;
  }

  async media(): Promise<ReadableStream<Uint8Array>> {
    if (this.#taken) throw mediaError(9401, "the output was used before");
    this.#taken = true;
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

/** The first bytes alone: known by their kind, but not to be decoded. */
function cutOff({ body, contentType }: Transformed): Transformed {
  const first = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk.slice(0, CUT_BYTES));
      controller.terminate();
    },
  });
  return { body: body.pipeThrough(first), contentType };
}
