/** What a value in a network is: its type and its shape, names for what may vary. */
export interface OnnxValue {
  name: string;
  type: "float32" | "int64" | "bool";
  shape: (number | string)[];
}

export interface OnnxConstant {
  name: string;
  shape: number[];
  data: Float32Array | BigInt64Array;
}

interface OnnxNode {
  type: string;
  inputs: string[];
  output: string;
  attributes?: Record<string, number>;
}

export interface OnnxGraph {
  inputs: OnnxValue[];
  outputs: OnnxValue[];
  constants: OnnxConstant[];
  nodes: OnnxNode[];
}

const TYPES = { float32: 1, int64: 7, bool: 9 };
const IR_VERSION = 8;
const OPSET = 18;
const ATTRIBUTE_INT = 2;

/** An `.onnx` file (github.com/onnx/onnx/blob/main/onnx/onnx.proto3). */
export function writeOnnx(graph: OnnxGraph): Buffer {
  return Buffer.concat([
    number(1, IR_VERSION),
    message(8, number(2, OPSET)),
    message(
      7,
      ...graph.nodes.map(writeNode),
      text(2, "tiny"),
      ...graph.constants.map(writeConstant),
      ...graph.inputs.map((value) => writeValue(11, value)),
      ...graph.outputs.map((value) => writeValue(12, value)),
    ),
  ]);
}

function writeNode({ type, inputs, output, attributes = {} }: OnnxNode): Buffer {
  return message(
    1,
    ...inputs.map((name) => text(1, name)),
    text(2, output),
    text(4, type),
    ...Object.entries(attributes).map(([name, value]) =>
      message(5, text(1, name), number(3, value), number(20, ATTRIBUTE_INT)),
    ),
  );
}

function writeConstant({ name, shape, data }: OnnxConstant): Buffer {
  const type = data instanceof Float32Array ? TYPES.float32 : TYPES.int64;
  const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return message(
    5,
    ...shape.map((size) => number(1, size)),
    number(2, type),
    text(8, name),
    bytes(9, raw),
  );
}

function writeValue(field: number, { name, type, shape }: OnnxValue): Buffer {
  const sizes = shape.map((size) =>
    message(1, typeof size === "number" ? number(1, size) : text(2, size)),
  );
  const tensor = message(1, number(1, TYPES[type]), message(2, ...sizes));
  return message(field, text(1, name), message(2, tensor));
}

function message(field: number, ...parts: Buffer[]): Buffer {
  return bytes(field, Buffer.concat(parts));
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value));
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

/** Whole numbers from 0. */
function varint(value: number): Buffer {
  const out: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) out.push((left % 128) + 128);
  return Buffer.from([...out, left]);
}
