import worker from "../src/index.ts";
import type { LocalEnv } from "./env.ts";
import { localImages } from "./local-images.ts";

export { MediaIndex } from "../src/index.ts";
export { LocalAI } from "./local-ai.ts";
export { LocalMedia } from "./local-media.ts";
export { LocalVectorize } from "./local-vectorize.ts";
export { Faults } from "./faults.ts";
export { VectorSpace } from "./vector-space.ts";

type WorkerEnv = Env & LocalEnv;

/** The Worker as it is deployed, on a stand-in that can't be bound by name. */
export default {
  fetch: (request, env, ctx) => worker.fetch(request, withImages(env), ctx),
  queue: (batch, env) => worker.queue(batch, withImages(env)),
  scheduled: (event, env) => worker.scheduled(event, withImages(env)),
} satisfies ExportedHandler<WorkerEnv>;

function withImages(env: WorkerEnv): Env {
  return { ...env, IMAGES: localImages(env) };
}
