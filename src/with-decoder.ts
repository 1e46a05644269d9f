/** The Worker of a deployment that runs the decoder as a container: docs/operate.md#other-codecs. */
export { default, IndexDatabase, MediaIndex, ModelLimiter } from "./index.ts";
export { Decoder } from "./durable/decoder.ts";
