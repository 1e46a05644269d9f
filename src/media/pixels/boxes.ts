/** A box of an ISO base media file, JPEG 2000 or JPEG XL, by its content. */
export interface Box {
  type: string;
  content: Buffer;
}

/** More boxes than an image has side by side, but for hostile ones. */
const MAX_BOXES = 20_000;

/** Yields the boxes that follow each other. The last one may be cut off. Stops at a damaged one. */
export function* boxesOf(bytes: Buffer): Generator<Box> {
  let at = 0;
  for (let count = 0; at + 8 <= bytes.length && count < MAX_BOXES; count++) {
    let [size, header] = [bytes.readUInt32BE(at), 8];
    if (size === 1) {
      if (at + 16 > bytes.length) return;
      [size, header] = [Number(bytes.readBigUInt64BE(at + 8)), 16];
    }
    if (size === 0) size = bytes.length - at; // to the end of the file
    if (size < header) return;
    yield { type: fourCc(bytes, at + 4), content: bytes.subarray(at + header, at + size) };
    at += size;
  }
}

/** Returns the content of the first box along a path of types, undefined without one. */
export function findContent(bytes: Buffer, ...types: string[]): Buffer | undefined {
  return types.reduce<Buffer | undefined>((content, type) => {
    if (!content) return undefined;
    for (const box of boxesOf(content)) {
      // `meta` begins with a version and flags.
      if (box.type === type) return type === "meta" ? box.content.subarray(4) : box.content;
    }
    return undefined;
  }, bytes);
}

export function fourCc(bytes: Buffer, offset: number): string {
  return bytes.toString("latin1", offset, offset + 4);
}
