import type { Counts } from "./media-part.ts";

/** The media bindings, counting. */
export function counted<E extends Pick<Env, "MEDIA" | "FRAMES" | "IMAGES">>(
  env: E,
): { env: E; counts: Counts } {
  const counts: Counts = { reads: 0, readBytes: 0, frames: 0, frameBytes: 0, images: 0 };
  const MEDIA = watched(env.MEDIA, "get", (_key, options) => {
    const { range } = (options ?? {}) as R2GetOptions;
    if (!range || !("length" in range)) return;
    counts.reads++;
    counts.readBytes += range.length ?? 0;
  });
  const FRAMES: MediaBinding = {
    input(media) {
      counts.frames++;
      const passing = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          counts.frameBytes += chunk.byteLength;
          controller.enqueue(chunk);
        },
      });
      return env.FRAMES.input(media.pipeThrough(passing));
    },
  };
  const IMAGES = watched(env.IMAGES, "input", () => counts.images++);
  return { env: { ...env, MEDIA, FRAMES, IMAGES }, counts };
}

/** A binding one of whose methods tells what it is called with. */
function watched<T extends object>(
  binding: T,
  method: keyof T,
  tell: (...args: unknown[]) => void,
): T {
  return new Proxy(binding, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (name === method) tell(...args);
        return Reflect.apply(value, target, args);
      };
    },
  });
}
