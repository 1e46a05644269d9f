import { z } from "zod";
import type { Member, Weights } from "./towers.ts";

/** What the file says about itself. */
const About = z.object({
  model: z.string(),
  /** Of the space: those of all members, side by side. */
  dimensions: z.int().positive(),
  /** What the pictures' features come from. */
  pictureReader: z.string(),
  /** What the sentence vectors come from. */
  sentenceModel: z.string(),
  /** What it was trained on and how well that went, for people. */
  training: z.record(z.string(), z.union([z.string(), z.number()])),
  vocabulary: z.array(z.string()),
});

const Shape = z.tuple([z.int().positive(), z.int().positive()]);
type Shape = z.infer<typeof Shape>;

const Header = z.object({
  about: About,
  members: z
    .array(z.object({ pictureHidden: Shape, pictureOut: Shape, sentence: Shape, words: Shape }))
    .min(1),
});

type About = z.infer<typeof About>;

export interface SpaceWeights {
  about: About;
  members: Member[];
}

/**
 * The file: the header's length in bytes (32 bits, little-endian), the header as JSON, then every
 * tensor of every member in the header's order, each row as a scale (32-bit float, little-endian) and
 * its numbers over that scale as bytes with a sign. That changes each by at most 1/254 of the row's
 * largest.
 */
export function writeWeights({ about, members }: SpaceWeights): Buffer {
  const shapes = members.map(({ pictureHidden, pictureOut, sentence, words }) => ({
    pictureHidden: shapeOf(pictureHidden),
    pictureOut: shapeOf(pictureOut),
    sentence: shapeOf(sentence),
    words: shapeOf(words),
  }));
  const header = Buffer.from(JSON.stringify({ about, members: shapes }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  const tensors = members.flatMap(({ pictureHidden, pictureOut, sentence, words }) =>
    [pictureHidden, pictureOut, sentence, words].map(writeTensor),
  );
  return Buffer.concat([length, header, ...tensors]);
}

/** Throws when the file is not what `writeWeights` writes. */
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
      pictureHidden: next(shapes.pictureHidden),
      pictureOut: next(shapes.pictureOut),
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
    const scale = numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127;
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
