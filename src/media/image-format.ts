/** What decodes the images of a format: the binding IMAGES, or the external decoder. */
type ImageDecoder = "IMAGES" | "external";

interface ImageFormat {
  /** Name for people. */
  name: string;
  decoder: ImageDecoder;
  /** Whether the image that is decoded is a JPEG in the file: the preview of a camera raw. */
  isRaw?: true;
}

/**
 * Formats by media type. The binding decodes AVIF for Enterprise plans only. In the isolate it
 * would take 340 kB more of the bundle, and more memory than there is for 12 megapixels.
 */
const FORMATS: Readonly<Record<string, ImageFormat>> = {
  "image/jpeg": { name: "JPEG", decoder: "IMAGES" },
  "image/png": { name: "PNG", decoder: "IMAGES" },
  "image/apng": { name: "PNG", decoder: "IMAGES" }, // shown by its default image
  "image/gif": { name: "GIF", decoder: "IMAGES" },
  "image/webp": { name: "WebP", decoder: "IMAGES" },
  "image/heic": { name: "HEIC", decoder: "IMAGES" },
  "image/heic-sequence": { name: "HEIC", decoder: "IMAGES" },
  "image/heif": { name: "HEIF", decoder: "IMAGES" },
  "image/heif-sequence": { name: "HEIF", decoder: "IMAGES" },
  "image/avif": { name: "AVIF", decoder: "external" },
  "image/tiff": { name: "TIFF", decoder: "external" },
  "image/bmp": { name: "BMP", decoder: "external" },
  "image/jp2": { name: "JPEG 2000", decoder: "external" },
  "image/jpx": { name: "JPEG 2000", decoder: "external" },
  "image/j2c": { name: "JPEG 2000", decoder: "external" },
  "image/jxl": { name: "JPEG XL", decoder: "external" },
  "image/vnd.adobe.photoshop": { name: "Photoshop", decoder: "external" },
  "image/x-canon-cr2": { name: "Canon CR2", decoder: "IMAGES", isRaw: true },
  "image/x-nikon-nef": { name: "Nikon NEF", decoder: "IMAGES", isRaw: true },
  "image/x-sony-arw": { name: "Sony ARW", decoder: "IMAGES", isRaw: true },
  "image/x-adobe-dng": { name: "DNG", decoder: "IMAGES", isRaw: true },
  "image/x-fujifilm-raf": { name: "Fujifilm RAF", decoder: "IMAGES", isRaw: true },
};

/** Returns the format of a media type; undefined if images of that type can't be read. */
export function imageFormat(mime: string): ImageFormat | undefined {
  return Object.hasOwn(FORMATS, mime) ? FORMATS[mime] : undefined;
}
