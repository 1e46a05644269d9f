/** The Worker of a deployment whose decoder is a container: docs/operate.md#other-codecs. */
export { default, IndexDatabase, MediaIndex, ModelLimiter } from "./index.ts";
export { Decoder } from "./durable/decoder.ts";
