import { readBody } from "./body.ts";
import type { Capability } from "./capability.ts";
import { convertImage } from "./convert-image.ts";
import { decodeHeif, readHeifSize } from "./heif.ts";
import { readInteger } from "./parameters.ts";
import type { Routes } from "./route.ts";

const MAX_IMAGE_BYTES = 32 * 1024 * 1024;
const PIXELS = { min: 1, max: 4_096 };
const DEFAULT_SIDE = 960;

/**
 * Creates the routes that decode images. `/media/image` is the external decoder's: it returns an
 * upright JPEG, with the size of the upright original in headers. `/heif` is part of the stand-in
 * for the Images binding.
 */
export function createConversionRoutes(media: Capability<void>): Routes {
  return {
    "POST /media/image": async ({ request, query, signal }) => {
      const side = readInteger(query, "side", PIXELS, DEFAULT_SIDE);
      const body = await readBody(request, MAX_IMAGE_BYTES);
      const { bytes, width, height } = await media.use(() => convertImage(body, side), signal);
      const headers = { "x-image-width": String(width), "x-image-height": String(height) };
      return { bytes, contentType: "image/jpeg", headers };
    },
    "POST /heif": async ({ request, signal }) => {
      const body = await readBody(request, MAX_IMAGE_BYTES);
      const bytes = await media.use((_, limited) => decodeHeif(body, limited), signal);
      return { bytes, contentType: "image/png" };
    },
    "POST /heif/size": async ({ request, signal }) => {
      const body = await readBody(request, MAX_IMAGE_BYTES);
      return { json: await media.use((_, limited) => readHeifSize(body, limited), signal) };
    },
  };
}
