import { SIGNATURE } from "../config.ts";
import { toPictureError } from "./picture-errors.ts";

const CHANNELS = 4;

/**
 * What a signature is made of: the grey pixels (Rec. 601 luma) of a picture that is stretched to
 * `SIGNATURE.side` each way, rows from the top, transparency on white. One operation of the binding.
 * Throws `unreadable_image`, and `upstream_failed` or `upstream_unavailable` where trying again may
 * help.
 */
export async function greyPixels(
  images: ImagesBinding,
  picture: ReadableStream<Uint8Array>,
): Promise<Uint8Array> {
  const { side } = SIGNATURE;
  try {
    const result = await images
      .input(picture)
      .transform({ width: side, height: side, fit: "squeeze" })
      .output({ format: "rgba" });
    const rgba = new Uint8Array(await result.response().arrayBuffer());
    const wanted = side * side * CHANNELS;
    if (rgba.length !== wanted) throw new Error(`${rgba.length} bytes of pixels, not ${wanted}`);
    return toGrey(rgba);
  } catch (cause) {
    throw toPictureError(cause);
  }
}

function toGrey(rgba: Uint8Array): Uint8Array {
  return Uint8Array.from({ length: rgba.length / CHANNELS }, (_, i) => {
    const [red, green, blue, alpha] = rgba.subarray(i * CHANNELS, (i + 1) * CHANNELS);
    const opacity = alpha! / 255;
    const luma = 0.299 * red! + 0.587 * green! + 0.114 * blue!;
    return Math.round(luma * opacity + 255 * (1 - opacity));
  });
}
