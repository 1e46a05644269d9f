/** The part of an image that is shown: its size, and where its centre is from the image's. */
interface Aperture {
  width: number;
  height: number;
  x: number;
  y: number;
}

/**
 * Takes the clean aperture (`clap`, ISO/IEC 14496-12, 12.1.4) of the primary image out of a HEIF
 * file, since libheif refuses a HEIC whose aperture is far smaller, and cuts off the colours of an
 * AVIF. Returns it as the upright image has it, turned by what follows; null without one, for
 * damaged boxes, and for other files.
 */
export function takeAperture(bytes: Buffer): Aperture | null {
  try {
    const meta = findContent(bytes, "meta")?.subarray(4) ?? EMPTY;
    const properties = [...boxesOf(findContent(meta, "iprp", "ipco") ?? EMPTY)];
    let aperture: Aperture | null = null;
    for (const number of listPrimaryProperties(meta)) {
      const property = properties[number - 1];
      if (property?.type === "clap") {
        aperture = readAperture(property.content);
        property.header.write("free", 4, "latin1");
      } else if (aperture && property?.type === "irot") {
        for (let turns = property.content.readUInt8(0) & 3; turns > 0; turns--) {
          aperture = turn(aperture);
        }
      } else if (aperture && property?.type === "imir") {
        const side = property.content.readUInt8(0) & 1 ? "x" : "y";
        aperture[side] *= -1;
      }
    }
    return aperture;
  } catch (error) {
    if (error instanceof RangeError) return null; // a box is cut off
    throw error;
  }
}

/** Turns an aperture a quarter counterclockwise. */
function turn({ width, height, x, y }: Aperture): Aperture {
  return { width: height, height: width, x: y, y: -x };
}

/** Returns the pixels that an aperture leaves of an image. */
export function toCrop(aperture: Aperture, image: { width: number; height: number }) {
  const fit = (side: "width" | "height", shift: number) => {
    const length = Math.min(Math.max(1, Math.round(aperture[side])), image[side]);
    const start = Math.round((image[side] - aperture[side]) / 2 + shift);
    return { start: Math.min(Math.max(0, start), image[side] - length), length };
  };
  const [across, down] = [fit("width", aperture.x), fit("height", aperture.y)];
  return { left: across.start, top: down.start, width: across.length, height: down.length };
}

function readAperture(content: Buffer): Aperture {
  const [width, height, x, y] = [0, 8, 16, 24].map(
    (at) => content.readInt32BE(at) / content.readInt32BE(at + 4),
  ) as [number, number, number, number];
  if (![width, height, x, y].every(Number.isFinite)) throw new RangeError("clap divides by zero");
  return { width, height, x, y };
}

/** Lists the numbers of the primary item's properties, from 1, in the order of their use. */
function listPrimaryProperties(meta: Buffer): number[] {
  const primary = findContent(meta, "pitm") ?? EMPTY;
  const readId = (content: Buffer, at: number, isLong: boolean) =>
    isLong ? content.readUInt32BE(at) : content.readUInt16BE(at);
  const primaryId = readId(primary, 4, primary.readUInt8(0) > 0);
  for (const { type, content } of boxesOf(findContent(meta, "iprp") ?? EMPTY)) {
    if (type !== "ipma") continue;
    const hasLongIds = content.readUInt8(0) > 0;
    const hasLongNumbers = (content.readUInt8(3) & 1) === 1;
    let at = 8;
    for (let items = content.readUInt32BE(4); items > 0; items--) {
      const id = readId(content, at, hasLongIds);
      at += hasLongIds ? 4 : 2;
      const count = content.readUInt8(at++);
      const numbers = Array.from({ length: count }, () =>
        hasLongNumbers
          ? content.readUInt16BE((at += 2) - 2) & 0x7fff
          : content.readUInt8(at++) & 0x7f,
      );
      if (id === primaryId) return numbers;
    }
  }
  return [];
}

const EMPTY = Buffer.alloc(0);

interface Box {
  type: string;
  /** Size and type. */
  header: Buffer;
  content: Buffer;
}

function* boxesOf(bytes: Buffer): Generator<Box> {
  for (let at = 0; at + 8 <= bytes.length;) {
    const size = bytes.readUInt32BE(at) || bytes.length - at;
    if (size < 8) return; // of 64 bits, which only media data need
    const header = bytes.subarray(at, at + 8);
    yield {
      type: header.toString("latin1", 4),
      header,
      content: bytes.subarray(at + 8, at + size),
    };
    at += size;
  }
}

function findContent(bytes: Buffer, ...path: string[]): Buffer | undefined {
  return path.reduce<Buffer | undefined>(
    (content, type) => content && [...boxesOf(content)].find((box) => box.type === type)?.content,
    bytes,
  );
}
