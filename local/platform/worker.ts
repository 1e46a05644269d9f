/**
 * The Worker that stands in for Cloudflare in a rehearsal of a deployment. A deployed bundle
 * reaches its entrypoints through the runtime's own clients of AI, Images and Vectorize, and FRAMES
 * by RPC, as in production. `scripts/rehearse/` binds them.
 */
export { Faults } from "../faults.ts";
export { VectorSpace } from "../vector-space.ts";
export { AiService } from "./ai-service.ts";
export { FramesService } from "./frames-service.ts";
export { ImagesService } from "./images-service.ts";
export { VectorizeService } from "./vectorize-service.ts";

export default {
  fetch: () => new Response("This Worker only has entrypoints.", { status: 404 }),
} satisfies ExportedHandler;
