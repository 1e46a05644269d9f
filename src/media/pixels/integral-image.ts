import { SIGNATURE } from "../../parameters.ts";

/** `[left, top, width, height]`, as fractions of an image. */
export type RectTuple = readonly [left: number, top: number, width: number, height: number];

/**
 * The summed-area table of luma of `SIGNATURE.side` each way (Viola and Jones, 2001), and the
 * rectangle inside its black bars, in pixels.
 */
export interface IntegralImage {
  /** Sum of the pixels above and left of each corner: `side + 1` corners each way. */
  sums: Float64Array;
  left: number;
  top: number;
  width: number;
  height: number;
}

const SIDE = SIGNATURE.side;
const CORNERS = SIDE + 1;
/** Luma up to which a pixel counts as black: compression and scaling lighten bars. */
const MAX_BLACK = 24;
/** Share of a bar's pixels that are black. */
const MIN_BLACK_SHARE = 0.98;
/** Pixels of one bar, so that at least a fifth of the image is left between two. */
const MAX_BAR_PIXELS = 0.4 * SIDE;

/** Sums up `SIGNATURE.side`² luma values. Throws a `RangeError` for any other number of them. */
export function toIntegralImage(luma: Uint8Array): IntegralImage {
  if (luma.length !== SIDE * SIDE) throw new RangeError(`${luma.length} pixels`);
  const sums = new Float64Array(CORNERS * CORNERS);
  for (let y = 0; y < SIDE; y++) {
    let rowSum = 0;
    for (let x = 0; x < SIDE; x++) {
      rowSum += luma[y * SIDE + x]!;
      sums[(y + 1) * CORNERS + x + 1] = sums[y * CORNERS + x + 1]! + rowSum;
    }
  }
  const isBlack = (line: Uint8Array) => {
    const blackCount = line.reduce((count, value) => count + Number(value <= MAX_BLACK), 0);
    return blackCount >= line.length * MIN_BLACK_SHARE;
  };
  const rows = Array.from({ length: SIDE }, (_, y) =>
    isBlack(luma.subarray(y * SIDE, (y + 1) * SIDE)),
  );
  const [top, bottom] = trimBars(rows);
  const columns = rows.map((_, x) =>
    isBlack(Uint8Array.from({ length: bottom - top }, (_, y) => luma[(top + y) * SIDE + x]!)),
  );
  const [left, right] = trimBars(columns);
  return { sums, left, top, width: right - left, height: bottom - top };
}

/**
 * Returns the means of `cells` × `cells` equal cells of a rectangle, rows from the top. The
 * rectangle is a fraction of the image inside its black bars.
 */
export function cellMeans(image: IntegralImage, rect: RectTuple, cells: number): Float64Array {
  const width = (rect[2] * image.width) / cells;
  const height = (rect[3] * image.height) / cells;
  const left = image.left + rect[0] * image.width;
  const top = image.top + rect[1] * image.height;
  const corners = new Float64Array((cells + 1) ** 2);
  for (let row = 0, i = 0; row <= cells; row++) {
    for (let column = 0; column <= cells; column++, i++) {
      corners[i] = sumAt(image.sums, left + column * width, top + row * height);
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

function trimBars(isBlack: boolean[]): [from: number, to: number] {
  let [from, to] = [0, isBlack.length];
  while (from < MAX_BAR_PIXELS && isBlack[from]) from++;
  while (to > isBlack.length - MAX_BAR_PIXELS && isBlack[to - 1]) to--;
  return [from, to];
}

/** Interpolates the summed-area table between its corners. */
function sumAt(sums: Float64Array, x: number, y: number): number {
  const column = Math.min(SIDE - 1, Math.max(0, Math.floor(x)));
  const row = Math.min(SIDE - 1, Math.max(0, Math.floor(y)));
  const right = Math.min(1, Math.max(0, x - column));
  const down = Math.min(1, Math.max(0, y - row));
  const at = row * CORNERS + column;
  const above = sums[at]! * (1 - right) + sums[at + 1]! * right;
  const below = sums[at + CORNERS]! * (1 - right) + sums[at + CORNERS + 1]! * right;
  return above * (1 - down) + below * down;
}
