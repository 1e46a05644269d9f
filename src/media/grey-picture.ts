import { SIGNATURE } from "../config.ts";

/** `[left, top, width, height]`, as fractions of a picture. */
export type Area = readonly [left: number, top: number, width: number, height: number];

/** A grey picture of `SIGNATURE.side` each way, summed up, and what of it lies inside black bars. */
export interface GreyPicture {
  /** Of the pixels above and left of each corner: `side + 1` each way. */
  sums: Float64Array;
  left: number;
  top: number;
  width: number;
  height: number;
}

const SIDE = SIGNATURE.side;
const ROW = SIDE + 1;
/** Compression and scaling leave bars not quite black, and not everywhere. */
const BLACK = 24;
const BLACK_SHARE = 0.98;
const MAX_BAR = 0.4 * SIDE;

/** Of `SIGNATURE.side`² grey pixels. Throws a `RangeError` for any other number of them. */
export function openGrey(pixels: Uint8Array): GreyPicture {
  if (pixels.length !== SIDE * SIDE) throw new RangeError(`${pixels.length} pixels`);
  const sums = new Float64Array(ROW * ROW);
  for (let y = 0; y < SIDE; y++) {
    let line = 0;
    for (let x = 0; x < SIDE; x++) {
      line += pixels[y * SIDE + x]!;
      sums[(y + 1) * ROW + x + 1] = sums[y * ROW + x + 1]! + line;
    }
  }
  const isBlack = (line: Uint8Array) =>
    line.reduce((count, value) => count + Number(value <= BLACK), 0) >= line.length * BLACK_SHARE;
  const rows = Array.from({ length: SIDE }, (_, y) =>
    isBlack(pixels.subarray(y * SIDE, (y + 1) * SIDE)),
  );
  const [top, bottom] = trim(rows);
  const columns = rows.map((_, x) =>
    isBlack(Uint8Array.from({ length: bottom - top }, (_, y) => pixels[(top + y) * SIDE + x]!)),
  );
  const [left, right] = trim(columns);
  return { sums, left, top, width: right - left, height: bottom - top };
}

/** The means of `cells` × `cells` equal parts of an area, rows from the top. */
export function meansOf(picture: GreyPicture, area: Area, cells: number): Float64Array {
  const width = (area[2] * picture.width) / cells;
  const height = (area[3] * picture.height) / cells;
  const left = picture.left + area[0] * picture.width;
  const top = picture.top + area[1] * picture.height;
  const corners = new Float64Array((cells + 1) ** 2);
  for (let row = 0, i = 0; row <= cells; row++) {
    for (let column = 0; column <= cells; column++, i++) {
      corners[i] = sumAt(picture.sums, left + column * width, top + row * height);
    }
  }
  const means = new Float64Array(cells * cells);
  for (let row = 0, i = 0; row < cells; row++) {
    for (let column = 0; column < cells; column++, i++) {
      const [above, below] = [i + row, i + row + cells + 1];
      const sum = corners[below + 1]! - corners[below]! - corners[above + 1]! + corners[above]!;
      means[i] = sum / (width * height);
    }
  }
  return means;
}

/** From where to where no line is black; at least a fifth in the middle. */
function trim(isBlack: boolean[]): [from: number, to: number] {
  let [from, to] = [0, isBlack.length];
  while (from < MAX_BAR && isBlack[from]) from++;
  while (to > isBlack.length - MAX_BAR && isBlack[to - 1]) to--;
  return [from, to];
}

function sumAt(sums: Float64Array, x: number, y: number): number {
  const column = Math.min(SIDE - 1, Math.max(0, Math.floor(x)));
  const row = Math.min(SIDE - 1, Math.max(0, Math.floor(y)));
  const right = Math.min(1, Math.max(0, x - column));
  const down = Math.min(1, Math.max(0, y - row));
  const at = row * ROW + column;
  const above = sums[at]! * (1 - right) + sums[at + 1]! * right;
  const below = sums[at + ROW]! * (1 - right) + sums[at + ROW + 1]! * right;
  return above * (1 - down) + below * down;
}
