/** An input or output of a network; a name in the shape is a variable size. */
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

/** Serialises a graph as an `.onnx` file (github.com/onnx/onnx/blob/main/onnx/onnx.proto3). */
export function writeOnnx(graph: OnnxGraph): Buffer {
  return Buffer.concat([
    writeInteger(1, IR_VERSION),
    writeMessage(8, writeInteger(2, OPSET)),
    writeMessage(
      7,
      ...graph.nodes.map(writeNode),
      writeText(2, "tiny"),
      ...graph.constants.map(writeConstant),
      ...graph.inputs.map((value) => writeValue(11, value)),
      ...graph.outputs.map((value) => writeValue(12, value)),
    ),
  ]);
}

function writeNode({ type, inputs, output, attributes = {} }: OnnxNode): Buffer {
  return writeMessage(
    1,
    ...inputs.map((name) => writeText(1, name)),
    writeText(2, output),
    writeText(4, type),
    ...Object.entries(attributes).map(([name, value]) =>
      writeMessage(5, writeText(1, name), writeInteger(3, value), writeInteger(20, ATTRIBUTE_INT)),
    ),
  );
}

function writeConstant({ name, shape, data }: OnnxConstant): Buffer {
  const type = data instanceof Float32Array ? TYPES.float32 : TYPES.int64;
  const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return writeMessage(
    5,
    ...shape.map((size) => writeInteger(1, size)),
    writeInteger(2, type),
    writeText(8, name),
    writeBytes(9, raw),
  );
}

function writeValue(field: number, { name, type, shape }: OnnxValue): Buffer {
  const sizes = shape.map((size) =>
    writeMessage(1, typeof size === "number" ? writeInteger(1, size) : writeText(2, size)),
  );
  const tensor = writeMessage(1, writeInteger(1, TYPES[type]), writeMessage(2, ...sizes));
  return writeMessage(field, writeText(1, name), writeMessage(2, tensor));
}

function writeMessage(field: number, ...parts: Buffer[]): Buffer {
  return writeBytes(field, Buffer.concat(parts));
}

function writeText(field: number, value: string): Buffer {
  return writeBytes(field, Buffer.from(value));
}

function writeBytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([encodeVarint(field * 8 + 2), encodeVarint(value.length), value]);
}

function writeInteger(field: number, value: number): Buffer {
  return Buffer.concat([encodeVarint(field * 8), encodeVarint(value)]);
}

/** Encodes a non-negative integer. */
function encodeVarint(value: number): Buffer {
  const out: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) out.push((rest % 128) + 128);
  return Buffer.from([...out, rest]);
}
