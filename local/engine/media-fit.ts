export const FITS = ["contain", "cover", "scale-down"] as const;
export type Fit = (typeof FITS)[number];

export interface Size {
  width: number;
  height: number;
}

/** What a caller asks for; a missing side follows from the other and the aspect ratio. */
export interface Wanted {
  width: number | null;
  height: number | null;
  fit: Fit;
}

/** Scale to `scaled`, then cut `cut` out of the middle. Both have the aspect ratio in mind. */
export interface Fitted {
  scaled: Size;
  cut: Size;
}

/**
 * `contain`: as large as fits inside; `scale-down`: the same, never enlarged; `cover`: fills the
 * size, what hangs over is cut off. Without a wanted side, the size stays.
 */
export function fitSize(size: Size, wanted: Wanted): Fitted {
  const across = wanted.width === null ? null : wanted.width / size.width;
  const down = wanted.height === null ? null : wanted.height / size.height;
  const scales = [across, down].filter((scale) => scale !== null);
  if (!scales.length) return { scaled: size, cut: size };
  const covers = wanted.fit === "cover";
  const scale = covers ? Math.max(...scales) : Math.min(...scales);
  const factor = wanted.fit === "scale-down" ? Math.min(1, scale) : scale;
  const scaled = {
    width: Math.max(1, Math.round(size.width * factor)),
    height: Math.max(1, Math.round(size.height * factor)),
  };
  if (!covers) return { scaled, cut: scaled };
  const cut = {
    width: Math.min(scaled.width, wanted.width ?? scaled.width),
    height: Math.min(scaled.height, wanted.height ?? scaled.height),
  };
  return { scaled, cut };
}
