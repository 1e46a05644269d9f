import type { OperationCounts } from "./media-part.ts";

/**
 * Wraps the media bindings so that their operations are counted. Each ranged read from R2 takes
 * `readLatencyMs` longer: the local R2 alone keeps the isolate so busy that no sample of its memory
 * can be taken between a collection of garbage and the next read.
 */
export function countOperations<E extends Pick<Env, "MEDIA" | "FRAMES" | "IMAGES">>(
  env: E,
  readLatencyMs: number,
): { env: E; counts: OperationCounts } {
  const counts: OperationCounts = { reads: 0, readBytes: 0, frames: 0, frameBytes: 0, images: 0 };
  const MEDIA = withCallback(env.MEDIA, "get", (_key, options) => {
    const { range } = (options ?? {}) as R2GetOptions;
    if (!range || !("length" in range)) return undefined;
    counts.reads++;
    counts.readBytes += range.length ?? 0;
    return readLatencyMs > 0 ? scheduler.wait(readLatencyMs) : undefined;
  });
  const FRAMES: MediaBinding = {
    input(media) {
      counts.frames++;
      const counter = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          counts.frameBytes += chunk.byteLength;
          controller.enqueue(chunk);
        },
      });
      return env.FRAMES.input(media.pipeThrough(counter));
    },
  };
  const IMAGES = withCallback(env.IMAGES, "input", () => {
    counts.images++;
    return undefined;
  });
  return { env: { ...env, MEDIA, FRAMES, IMAGES }, counts };
}

/** Wraps a binding: `onCall` gets the arguments of each call of `method`, and may delay it. */
function withCallback<T extends object>(
  binding: T,
  method: keyof T,
  onCall: (...args: unknown[]) => Promise<void> | undefined,
): T {
  return new Proxy(binding, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        const call = (): unknown => Reflect.apply(value, target, args);
        const delay = name === method ? onCall(...args) : undefined;
        return delay ? delay.then(call) : call();
      };
    },
  });
}
