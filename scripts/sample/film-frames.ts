import sharp from "sharp";

/** One picture on the screen for a while. */
export interface Scene {
  /** Any picture sharp reads; it is cropped to fill the screen. */
  picture: Buffer | string;
  seconds: number;
  /** `pan` drifts across the picture, so that no two frames are alike. Default `still`. */
  motion?: "still" | "pan";
  /** Seconds at the end during which the next scene shows through; 0 is a cut. */
  dissolve?: number;
}

export interface Screen {
  /** Pixels, even. */
  width: number;
  /** Pixels, even. */
  height: number;
  /** Whole frames a second. */
  fps: number;
}

/** How much larger than the screen a panned picture is. */
const PAN_MARGIN = 0.12;

/** The frames of `scenes` in order: packed RGB, 3 · width · height bytes each. */
export async function* drawFrames(scenes: Scene[], screen: Screen): AsyncGenerator<Buffer> {
  const cameras = scenes.map((scene) => openCamera(scene, screen));
  for (const [i, scene] of scenes.entries()) {
    const camera = await cameras[i]!;
    const next = await cameras[i + 1];
    const frames = Math.round(scene.seconds * screen.fps);
    const mixed = next ? Math.round((scene.dissolve ?? 0) * screen.fps) : 0;
    for (let frame = 0; frame < frames; frame++) {
      const picture = camera(frame / frames);
      const left = frames - frame;
      yield next && left <= mixed ? mix(picture, next(0), 1 - left / (mixed + 1)) : picture;
    }
  }
}

/** A function from the share of the scene that has passed (0–1) to what the screen shows then. */
async function openCamera({ picture, motion }: Scene, { width, height }: Screen) {
  const margin = motion === "pan" ? PAN_MARGIN : 0;
  const wide = Math.round(width * (1 + margin));
  const high = Math.round(height * (1 + margin));
  const pixels = await sharp(picture)
    .rotate()
    .resize(wide, high, { fit: "cover" })
    .flatten()
    .toColourspace("srgb")
    .raw()
    .toBuffer();
  if (motion !== "pan") return () => pixels;
  return (passed: number) => {
    const x = Math.round((wide - width) * passed);
    const y = Math.round((high - height) * passed);
    const shown = Buffer.allocUnsafe(width * height * 3);
    for (let row = 0; row < height; row++) {
      const from = ((y + row) * wide + x) * 3;
      pixels.copy(shown, row * width * 3, from, from + width * 3);
    }
    return shown;
  };
}

function mix(from: Buffer, to: Buffer, share: number): Buffer {
  const mixed = Buffer.allocUnsafe(from.length);
  for (let i = 0; i < mixed.length; i++) mixed[i] = from[i]! + (to[i]! - from[i]!) * share;
  return mixed;
}
