import type { Size } from "./rect.ts";

/** Ratios of width to height by their number, from 1. */
const RATIOS = [
  [1, 1],
  [12, 10],
  [4, 3],
  [3, 2],
  [16, 9],
  [5, 4],
  [2, 1],
] as const;
/** Bits of a length by its selector. */
const LENGTH_BITS = [9, 13, 18, 30];

/** Reads the size at the start of a JPEG XL codestream (ISO/IEC 18181-1, D.2). */
export function readJxlSize(codestream: Buffer): Size {
  let bit = 16; // after the signature
  const read = (count: number) => {
    let value = 0;
    for (let i = 0; i < count; i++, bit++) {
      value += ((codestream.readUInt8(bit >> 3) >> (bit & 7)) & 1) * 2 ** i;
    }
    return value;
  };
  const isSmall = read(1) === 1;
  const readLength = () => (isSmall ? 8 * (read(5) + 1) : read(LENGTH_BITS[read(2)]!) + 1);
  const height = readLength();
  const ratio = RATIOS[read(3) - 1];
  const width = ratio ? Math.floor((height * ratio[0]) / ratio[1]) : readLength();
  return { width, height };
}
