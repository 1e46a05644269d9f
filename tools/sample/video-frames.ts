import sharp from "sharp";

/** An image that fills the screen for some seconds. */
export interface Scene {
  /** Any image that sharp reads, cropped to fill the screen. */
  image: Buffer | string;
  seconds: number;
  /**
   * Camera motion: `pan` drifts across the image, so that no two frames are the same. Default
   * `still`.
   */
  motion?: "still" | "pan";
  /** Duration in seconds of the dissolve into the next scene, at the end; 0 is a cut. */
  dissolve?: number;
}

export interface Screen {
  /** Width in pixels, even. */
  width: number;
  /** Height in pixels, even. */
  height: number;
  /** Frames per second, an integer. */
  fps: number;
}

/** Margin of a panned image as a share of the screen. */
const PAN_MARGIN = 0.12;

/** Renders the frames of `scenes` in order: packed RGB, 3 · width · height bytes each. */
export async function* drawFrames(scenes: Scene[], screen: Screen): AsyncGenerator<Buffer> {
  const cameras = scenes.map((scene) => openCamera(scene, screen));
  for (const [i, scene] of scenes.entries()) {
    const camera = await cameras[i]!;
    const next = await cameras[i + 1];
    const frames = Math.round(scene.seconds * screen.fps);
    const blended = next ? Math.round((scene.dissolve ?? 0) * screen.fps) : 0;
    for (let frame = 0; frame < frames; frame++) {
      const frameImage = camera(frame / frames);
      const remaining = frames - frame;
      yield next && remaining <= blended
        ? blend(frameImage, next(0), 1 - remaining / (blended + 1))
        : frameImage;
    }
  }
}

/** Returns a function from the progress of the scene (0–1) to the visible frame. */
async function openCamera({ image, motion }: Scene, { width, height }: Screen) {
  const margin = motion === "pan" ? PAN_MARGIN : 0;
  const imageWidth = Math.round(width * (1 + margin));
  const imageHeight = Math.round(height * (1 + margin));
  const pixels = await sharp(image)
    .rotate()
    .resize(imageWidth, imageHeight, { fit: "cover" })
    .flatten()
    .toColourspace("srgb")
    .raw()
    .toBuffer();
  if (motion !== "pan") return () => pixels;
  return (progress: number) => {
    const x = Math.round((imageWidth - width) * progress);
    const y = Math.round((imageHeight - height) * progress);
    const visible = Buffer.allocUnsafe(width * height * 3);
    for (let row = 0; row < height; row++) {
      const from = ((y + row) * imageWidth + x) * 3;
      pixels.copy(visible, row * width * 3, from, from + width * 3);
    }
    return visible;
  };
}

function blend(from: Buffer, to: Buffer, share: number): Buffer {
  const blended = Buffer.allocUnsafe(from.length);
  for (let i = 0; i < blended.length; i++) blended[i] = from[i]! + (to[i]! - from[i]!) * share;
  return blended;
}
