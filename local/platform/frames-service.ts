import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import type { LocalEnv } from "../env.ts";
import { localMedia } from "../local-media.ts";

/** Media Transformations by RPC: the chain of calls is pipelined, and errors cross as text. */
export class FramesService extends WorkerEntrypoint<LocalEnv> {
  input(media: ReadableStream<Uint8Array>): Transformer {
    return new Transformer(localMedia(this.env).input(media));
  }
}

/** What is still to be given its output: a generator, or a transformer. */
class Generator extends RpcTarget {
  readonly #generator: MediaTransformationGenerator;

  constructor(generator: MediaTransformationGenerator) {
    super();
    this.#generator = generator;
  }

  output(options?: MediaTransformationOutputOptions): Result {
    return new Result(this.#generator.output(options));
  }
}

class Transformer extends Generator {
  readonly #transformer: MediaTransformer;

  constructor(transformer: MediaTransformer) {
    super(transformer);
    this.#transformer = transformer;
  }

  transform(options?: MediaTransformationInputOptions): Generator {
    return new Generator(this.#transformer.transform(options));
  }
}

class Result extends RpcTarget {
  readonly #result: MediaTransformationResult;

  constructor(result: MediaTransformationResult) {
    super();
    this.#result = result;
  }

  media(): Promise<ReadableStream<Uint8Array>> {
    return this.#result.media();
  }

  response(): Promise<Response> {
    return this.#result.response();
  }

  contentType(): Promise<string> {
    return this.#result.contentType();
  }
}
