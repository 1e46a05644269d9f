import worker from "../src/index.ts";
import type { LocalEnv } from "./env.ts";
import { localImages } from "./local-images.ts";
import { localMedia } from "./local-media.ts";

export { IndexDatabase, MediaIndex, ModelLimiter } from "../src/index.ts";
export { LocalAI } from "./local-ai.ts";
export { LocalVectorize } from "./local-vectorize.ts";
export { Faults } from "./faults.ts";
export { VectorSpace } from "./vector-space.ts";

type WorkerEnv = Env & LocalEnv;

/**
 * The deployed Worker with two more stand-ins. They have synchronous methods, so they are created
 * here and not bound by name.
 */
export default {
  fetch: (request, env, ctx) => worker.fetch(request, withStandIns(env), ctx),
  queue: (batch, env) => worker.queue(batch, withStandIns(env)),
  scheduled: (event, env) => worker.scheduled(event, withStandIns(env)),
} satisfies ExportedHandler<WorkerEnv>;

function withStandIns(env: WorkerEnv): Env {
  return { ...env, FRAMES: localMedia(env), IMAGES: localImages(env) };
}
