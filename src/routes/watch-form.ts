import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import type { Context } from "../http/context.ts";
import {
  formFile,
  isFormRequest,
  readForm,
  readSmallPart,
  requireFields,
} from "../http/multipart.ts";
import { jsonText } from "../http/query-params.ts";
import { HEAD_BYTES, requireMediaType } from "../media/media-type.ts";
import { decodeImage } from "../media/pixels/decode-image.ts";
import { imageOfBytes } from "../media/pixels/image-file.ts";
import { throwImageAsInvalid } from "./example-query.ts";

/** Characters of an image in base64, in a row of D1 that may have two million. */
const MAX_IMAGE_CHARACTERS = 1_000_000;

/** Schema of a form with an image, and the fields of a request as JSON. */
export function imageForm<Fields extends z.ZodObject>(fields: Fields) {
  return z.object({
    watch: jsonText(fields).describe("The other fields, as a JSON object."),
    image_file: formFile().describe("Image to watch for, in any format that can be added."),
  });
}

/** Reads such a form. Null for a request with JSON. The image is a JPEG in base64. */
export async function readImageForm<Fields extends z.ZodObject>(
  c: Context,
  fields: Fields,
): Promise<{ fields: z.output<Fields>; image: string } | null> {
  if (!isFormRequest(c.req.raw)) return null;
  const images: Uint8Array[] = [];
  const parts = await readForm(c.req.raw, async (part) => {
    if (part.field === "image_file") images.push(await readSmallPart(part, LIMITS.imageBytes));
  });
  if (!parts.has("watch")) parts.set("watch", "{}");
  const fileNames = images.map(() => "image_file");
  const { watch } = requireFields(imageForm(fields), parts, fileNames);
  const image = images.at(-1)!;
  await requireMediaType(image.subarray(0, HEAD_BYTES), "image");
  const { jpeg } = await decodeImage(c.env, imageOfBytes(image)).catch(throwImageAsInvalid);
  const text = Buffer.from(jpeg).toString("base64");
  if (text.length > MAX_IMAGE_CHARACTERS) {
    throw new AppError("too_large", "The image has too much detail to be watched for; crop it.");
  }
  return { fields: watch as z.output<Fields>, image: text };
}
