import { AV_PKT_DATA_DISPLAYMATRIX } from "node-av/constants";
import type { Stream } from "node-av/lib";

/** Rotation and display size of a video. */
export interface Orientation {
  /** Clockwise, in degrees. */
  rotation: 0 | 90 | 180 | 270;
  /** FFmpeg filters that turn a frame upright, in order. */
  filters: string[];
  /** Upright size with square pixels. */
  width: number;
  height: number;
}

/**
 * Reads the display matrix, as `ffmpeg -autorotate` does, and the pixel aspect ratio: that of the
 * container, or without one that of the codec.
 */
export function getOrientation(stream: Stream): Orientation {
  const { codecpar } = stream;
  const { width, height } = codecpar;
  const isSquare = stream.sampleAspectRatio.num <= 0;
  const { num, den } = isSquare ? codecpar.sampleAspectRatio : stream.sampleAspectRatio;
  const aspect = num > 0 && den > 0 ? num / den : 1;
  const displayWidth =
    aspect > 0.1 && aspect < 10 ? Math.max(1, Math.round(width * aspect)) : width;
  const matrix = stream.codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX);
  const read = (index: number) =>
    matrix && matrix.length >= 36 ? matrix.readInt32LE(index * 4) : 0;
  const [a, b, c, d] = [read(0), read(1), read(3), read(4)];
  const scale = { x: Math.hypot(a, c), y: Math.hypot(b, d) };
  if (!scale.x || !scale.y) return { rotation: 0, filters: [], width: displayWidth, height };
  const quarters = Math.round(Math.atan2(b / scale.y, a / scale.x) / (Math.PI / 2));
  switch ((quarters + 4) % 4) {
    case 1:
      return {
        rotation: 90,
        filters: [c > 0 ? "transpose=cclock_flip" : "transpose=clock"],
        width: height,
        height: displayWidth,
      };
    case 2: {
      const filters = [...(a < 0 ? ["hflip"] : []), ...(d < 0 ? ["vflip"] : [])];
      return { rotation: 180, filters, width: displayWidth, height };
    }
    case 3:
      return {
        rotation: 270,
        filters: [c < 0 ? "transpose=clock_flip" : "transpose=cclock"],
        width: height,
        height: displayWidth,
      };
    default:
      return { rotation: 0, filters: d < 0 ? ["vflip"] : [], width: displayWidth, height };
  }
}
