import * as z from "zod";
import type { EnsembleMember, Weights } from "./towers.ts";

/** Metadata in the file. */
const About = z.object({
  model: z.string(),
  /** Dimensions of the space: the sum over all members. */
  dimensions: z.int().positive(),
  /** Encoder of the image features. */
  imageEncoder: z.string(),
  /** Encoder of the sentence vectors. */
  sentenceModel: z.string(),
  /** Training data and results, for people. */
  training: z.record(z.string(), z.union([z.string(), z.number()])),
  vocabulary: z.array(z.string()),
});

const Shape = z.tuple([z.int().positive(), z.int().positive()]);
type Shape = z.infer<typeof Shape>;

const Header = z.object({
  about: About,
  members: z
    .array(z.object({ imageHidden: Shape, imageOut: Shape, sentence: Shape, words: Shape }))
    .min(1),
});

type About = z.infer<typeof About>;

export interface SpaceWeights {
  about: About;
  members: EnsembleMember[];
}

/**
 * Serialises weights: the header's length in bytes (32 bits, little-endian), the header as JSON,
 * then every tensor of every member in the header's order. A row is a scale (32-bit float,
 * little-endian) and signed bytes, its numbers divided by the scale. The rounding error of a number
 * is at most 1/254 of the row's largest.
 */
export function writeWeights({ about, members }: SpaceWeights): Buffer {
  const shapes = members.map(({ imageHidden, imageOut, sentence, words }) => ({
    imageHidden: shapeOf(imageHidden),
    imageOut: shapeOf(imageOut),
    sentence: shapeOf(sentence),
    words: shapeOf(words),
  }));
  const header = Buffer.from(JSON.stringify({ about, members: shapes }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  const tensors = members.flatMap(({ imageHidden, imageOut, sentence, words }) =>
    [imageHidden, imageOut, sentence, words].map(writeTensor),
  );
  return Buffer.concat([length, header, ...tensors]);
}

/** Parses a file of `writeWeights`; throws if the format is wrong. */
export function readWeights(file: Buffer): SpaceWeights {
  const start = 4 + file.readUInt32LE(0);
  const { about, members } = Header.parse(JSON.parse(file.toString("utf8", 4, start)));
  let at = start;
  const next = (shape: Shape): Weights => {
    const weights = readTensor(file.subarray(at), shape);
    at += (4 + weights.outputs) * weights.inputs;
    return weights;
  };
  return {
    about,
    members: members.map((shapes) => ({
      imageHidden: next(shapes.imageHidden),
      imageOut: next(shapes.imageOut),
      sentence: next(shapes.sentence),
      words: next(shapes.words),
    })),
  };
}

function shapeOf({ inputs, outputs }: Weights): Shape {
  return [inputs, outputs];
}

function writeTensor({ inputs, outputs, data }: Weights): Buffer {
  const bytes = Buffer.alloc((4 + outputs) * inputs);
  for (let row = 0; row < inputs; row++) {
    const numbers = data.subarray(row * outputs, (row + 1) * outputs);
    const scale = numbers.reduce((max, value) => Math.max(max, Math.abs(value)), 0) / 127;
    const start = bytes.writeFloatLE(scale, row * (4 + outputs));
    for (const [at, value] of numbers.entries()) {
      bytes.writeInt8(Math.round(value / (scale || 1)), start + at);
    }
  }
  return bytes;
}

function readTensor(bytes: Buffer, [inputs, outputs]: Shape): Weights {
  const data = new Float32Array(inputs * outputs);
  for (let row = 0; row < inputs; row++) {
    const start = row * (4 + outputs);
    const scale = bytes.readFloatLE(start);
    for (let at = 0; at < outputs; at++) {
      data[row * outputs + at] = scale * bytes.readInt8(start + 4 + at);
    }
  }
  return { inputs, outputs, data };
}
