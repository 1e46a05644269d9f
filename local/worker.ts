export { default, MediaIndex } from "../src/index.ts";
export { LocalAI } from "./local-ai.ts";
export { LocalMedia } from "./local-media.ts";
export { LocalVectorize } from "./local-vectorize.ts";
export { Faults } from "./faults.ts";
export { VectorSpace } from "./vector-space.ts";
