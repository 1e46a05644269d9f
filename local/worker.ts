import worker from "../src/index.ts";
import type { LocalEnv } from "./env.ts";
import { localImages } from "./local-images.ts";
import { localMedia } from "./local-media.ts";

export { MediaIndex } from "../src/index.ts";
export { LocalAI } from "./local-ai.ts";
export { LocalVectorize } from "./local-vectorize.ts";
export { Faults } from "./faults.ts";
export { VectorSpace } from "./vector-space.ts";

type WorkerEnv = Env & LocalEnv;

/** The Worker as it is deployed, on stand-ins that can't be bound by name: parts of them answer at once. */
export default {
  fetch: (request, env, ctx) => worker.fetch(request, onStandIns(env), ctx),
  queue: (batch, env) => worker.queue(batch, onStandIns(env)),
  scheduled: (event, env) => worker.scheduled(event, onStandIns(env)),
} satisfies ExportedHandler<WorkerEnv>;

function onStandIns(env: WorkerEnv): Env {
  return { ...env, FRAMES: localMedia(env), IMAGES: localImages(env) };
}
