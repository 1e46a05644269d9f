import { type OnnxConstant, type OnnxGraph, type OnnxValue, writeOnnx } from "./onnx-file.ts";

/** Side of the input images, in pixels. */
export const SIDE = 8;
const PIXELS = 3 * SIDE * SIDE;
/** Dimensions of a token embedding. */
export const WIDTH = 16;
/** Tokens per image. */
export const IMAGE_TOKENS = 2;

function value(name: string, type: OnnxValue["type"], ...shape: OnnxValue["shape"]): OnnxValue {
  return { name, type, shape };
}

/** Makes a constant of seeded random numbers from -1 to 1 (mulberry32). */
function weights(name: string, seed: number, ...shape: number[]): OnnxConstant {
  let state = seed;
  const next = () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
  const size = shape.reduce((product, side) => product * side, 1);
  return { name, shape, data: Float32Array.from({ length: size }, next) };
}

function integers(name: string, ...values: number[]): OnnxConstant {
  return { name, shape: [values.length], data: BigInt64Array.from(values, BigInt) };
}

/** Makes a linear vision network over all pixels. */
export function visionNetwork(output: string, dimensions: number): Buffer {
  return writeOnnx({
    inputs: [value("pixel_values", "float32", "n", 3, SIDE, SIDE)],
    outputs: [value(output, "float32", "n", dimensions)],
    constants: [weights("image_projection", 1, PIXELS, dimensions)],
    nodes: [
      { type: "Flatten", inputs: ["pixel_values"], output: "flat" },
      { type: "MatMul", inputs: ["flat", "image_projection"], output },
    ],
  });
}

/** Makes a text network: the projected mean of the token embeddings. */
export function textNetwork(output: string, dimensions: number, vocabulary: number): Buffer {
  return writeOnnx({
    inputs: [value("input_ids", "int64", "n", "tokens")],
    outputs: [value(output, "float32", "n", dimensions)],
    constants: [
      weights("token_embeddings", 2, vocabulary, WIDTH),
      weights("projection", 3, WIDTH, dimensions),
      integers("axes", 1),
    ],
    nodes: [
      { type: "Gather", inputs: ["token_embeddings", "input_ids"], output: "embedded" },
      {
        type: "ReduceMean",
        inputs: ["embedded", "axes"],
        output: "mean",
        attributes: { keepdims: 0 },
      },
      { type: "MatMul", inputs: ["mean", "projection"], output },
    ],
  });
}

/** Makes the three networks of a vision-language model, by name. */
export function languageNetworks(vocabulary: number): Record<string, Buffer> {
  const networks: Record<string, OnnxGraph> = {
    vision_encoder: {
      inputs: [
        value("pixel_values", "float32", "n", "images", 3, SIDE, SIDE),
        value("pixel_attention_mask", "bool", "n", "images", SIDE, SIDE),
      ],
      outputs: [value("image_features", "float32", "all", IMAGE_TOKENS, WIDTH)],
      constants: [
        integers("rows", -1, PIXELS),
        weights("image_projection", 4, PIXELS, IMAGE_TOKENS * WIDTH),
        integers("tokens", -1, IMAGE_TOKENS, WIDTH),
      ],
      nodes: [
        { type: "Reshape", inputs: ["pixel_values", "rows"], output: "flat" },
        { type: "MatMul", inputs: ["flat", "image_projection"], output: "projected" },
        { type: "Reshape", inputs: ["projected", "tokens"], output: "image_features" },
      ],
    },
    embed_tokens: {
      inputs: [value("input_ids", "int64", "n", "tokens")],
      outputs: [value("inputs_embeds", "float32", "n", "tokens", WIDTH)],
      constants: [weights("token_embeddings", 5, vocabulary, WIDTH)],
      nodes: [
        { type: "Gather", inputs: ["token_embeddings", "input_ids"], output: "inputs_embeds" },
      ],
    },
    decoder_model_merged: decoder(vocabulary),
  };
  return Object.fromEntries(
    Object.entries(networks).map(([name, graph]) => [name, writeOnnx(graph)]),
  );
}

/** Makes a decoder: logits from the last token plus the mean of all tokens in the cache. */
function decoder(vocabulary: number): OnnxGraph {
  const cache = (when: string, what: string, length: string) =>
    value(`${when}.0.${what}`, "float32", "n", 1, length, WIDTH);
  const appendToCache = (what: string) => ({
    type: "Concat",
    inputs: [`past_key_values.0.${what}`, "heads"],
    output: `present.0.${what}`,
    attributes: { axis: 2 },
  });
  return {
    inputs: [
      value("inputs_embeds", "float32", "n", "tokens", WIDTH),
      value("attention_mask", "int64", "n", "total"),
      value("position_ids", "int64", "n", "tokens"),
      cache("past_key_values", "key", "past"),
      cache("past_key_values", "value", "past"),
    ],
    outputs: [
      value("logits", "float32", "n", "tokens", vocabulary),
      cache("present", "key", "total"),
      cache("present", "value", "total"),
    ],
    constants: [
      integers("one", 1),
      integers("positions", 1, 2),
      weights("projection", 6, WIDTH, vocabulary),
    ],
    nodes: [
      { type: "Unsqueeze", inputs: ["inputs_embeds", "one"], output: "heads" },
      appendToCache("key"),
      appendToCache("value"),
      {
        type: "ReduceMean",
        inputs: ["present.0.value", "positions"],
        output: "mean",
        attributes: { keepdims: 0 },
      },
      { type: "Unsqueeze", inputs: ["mean", "one"], output: "context" },
      { type: "Add", inputs: ["inputs_embeds", "context"], output: "hidden" },
      { type: "MatMul", inputs: ["hidden", "projection"], output: "logits" },
    ],
  };
}
