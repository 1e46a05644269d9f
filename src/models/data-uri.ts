/** Encodes a JPEG as a `data:` URL, the form in which models take images. */
export function dataUri(jpeg: Uint8Array): string {
  return `data:image/jpeg;base64,${Buffer.from(jpeg).toString("base64")}`;
}
