import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Tensor, tensor4d } from "@tensorflow/tfjs-core";
import { COCO_LABELS, type CocoLabel } from "../coco.ts";
import { type ImageFile, type Pixels, readPixels } from "../image.ts";
import { packageFolder } from "../packages.ts";
import { loadTensorGraph } from "../tensor-graph.ts";
import { BANDS, COLOURS, measureColours } from "./colours.ts";

/** Name under which features are cached; change it when the features change. */
export const IMAGE_ENCODER = "centernet-backbone+classes+colours-1";

/** Side of the network's input, to which images are stretched. */
export const DETECTOR_SIDE = 512;
const CHANNELS = 480;
const CLASSES = 80;
/** Last feature map of the detector's backbone: [1, 16, 16, 480]. */
const BACKBONE = "tower_0/extern1/hard_swish/mul_1";
/** Class probabilities per grid cell: [1, 128, 128, 80]. */
const CLASS_MAPS = "tower_0/keypoints";
const DETECTIONS = "tower_0/detections";
/** Images whose features are remembered until they are embedded: those of a long video, 11 MB. */
const MAX_REMEMBERED = 2_000;

/** Mean and peak per channel, peak and mean per class, and the colour histograms. */
export const IMAGE_FEATURES = 2 * CHANNELS + 2 * CLASSES + BANDS * COLOURS;

/** Lists the classes that the detector finds in an image with these features, best first. */
export function listLabels(features: Float32Array, minScore: number): CocoLabel[] {
  const peaks = features.subarray(2 * CHANNELS, 2 * CHANNELS + CLASSES);
  const found = [...COCO_LABELS.entries()].filter(([at]) => peaks[at]! >= minScore);
  return found.toSorted(([a], [b]) => peaks[b]! - peaks[a]!).map(([, label]) => label);
}

export interface ImageEncoder {
  /** Computes `IMAGE_FEATURES` numbers. Errors: `undecodable_image`. */
  read(image: ImageFile): Promise<Float32Array>;
  /**
   * Returns the detector's rows, and remembers the features of the image, which the same run of the
   * network computes. Errors: `undecodable_image`.
   */
  detect(image: ImageFile): Promise<Float32Array>;
}

/** Loads an encoder of CenterNet feature maps (see `objects.ts`) and colour histograms. */
export async function loadImageEncoder(): Promise<ImageEncoder> {
  const models = join(packageFolder("@vladmandic/human"), "../models");
  const graph = await loadTensorGraph(join(models, "centernet.json"));
  const remembered = new Map<string, Float32Array>();

  async function run({ data }: Pick<Pixels, "data">, names: string[]): Promise<Float32Array[]> {
    const input = tensor4d(Float32Array.from(data), [1, DETECTOR_SIDE, DETECTOR_SIDE, 3]);
    const outputs: Tensor[] = [graph.execute(input, names)].flat();
    const maps = await Promise.all(outputs.map((output) => output.data<"float32">()));
    input.dispose();
    for (const output of outputs) output.dispose();
    return maps;
  }

  await run({ data: Buffer.alloc(DETECTOR_SIDE ** 2 * 3) }, [BACKBONE, CLASS_MAPS, DETECTIONS]);
  return {
    async read(image) {
      const features = remembered.get(hashOf(image));
      if (features) return features;
      const pixels = await readPixels(image, DETECTOR_SIDE, DETECTOR_SIDE);
      const [backbone, classes] = await run(pixels, [BACKBONE, CLASS_MAPS]);
      return toFeatures(pixels, backbone!, classes!);
    },
    async detect(image) {
      const pixels = await readPixels(image, DETECTOR_SIDE, DETECTOR_SIDE);
      const [backbone, classes, rows] = await run(pixels, [BACKBONE, CLASS_MAPS, DETECTIONS]);
      remembered.set(hashOf(image), toFeatures(pixels, backbone!, classes!));
      const [oldest] = remembered.keys();
      if (remembered.size > MAX_REMEMBERED) remembered.delete(oldest!);
      return rows!;
    },
  };
}

function hashOf({ bytes }: ImageFile): string {
  return createHash("sha256").update(bytes).digest("base64");
}

function toFeatures(pixels: Pixels, backbone: Float32Array, classes: Float32Array): Float32Array {
  const channel = pool(backbone, CHANNELS);
  const label = pool(classes, CLASSES);
  const features = new Float32Array(IMAGE_FEATURES);
  features.set(channel.means);
  features.set(channel.peaks, CHANNELS);
  features.set(label.peaks, 2 * CHANNELS);
  features.set(label.means.map(toLog), 2 * CHANNELS + CLASSES);
  features.set(measureColours(pixels), 2 * CHANNELS + 2 * CLASSES);
  return features;
}

/** Computes the mean and peak of each channel over the cells of a map. */
function pool(map: Float32Array, channels: number) {
  const means = new Float32Array(channels);
  const peaks = new Float32Array(channels).fill(-Infinity);
  for (let offset = 0; offset < map.length; offset += channels) {
    for (let channel = 0; channel < channels; channel++) {
      const value = map[offset + channel]!;
      means[channel]! += value;
      if (value > peaks[channel]!) peaks[channel] = value;
    }
  }
  return { means: means.map((sum) => (sum * channels) / map.length), peaks };
}

/** Takes the logarithm of a share, so that powers of ten are evenly spaced. */
function toLog(share: number): number {
  return Math.log(share + 1e-4);
}
