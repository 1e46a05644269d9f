export const FITS = ["contain", "cover", "scale-down"] as const;
export type Fit = (typeof FITS)[number];

export interface Size {
  width: number;
  height: number;
}

/** A requested size; a missing side follows from the other and the aspect ratio. */
export interface SizeRequest {
  width: number | null;
  height: number | null;
  fit: Fit;
}

/** Scale to `scaled`, then crop the centre to `cropped`. */
export interface Fitted {
  scaled: Size;
  cropped: Size;
}

/**
 * Fits a size to a request. `contain` is the largest size that fits inside; `scale-down` is the
 * same but never enlarges; `cover` fills the request and crops the excess. Without a side the size
 * stays.
 */
export function fitSize(size: Size, request: SizeRequest): Fitted {
  const horizontalScale = request.width === null ? null : request.width / size.width;
  const verticalScale = request.height === null ? null : request.height / size.height;
  const scales = [horizontalScale, verticalScale].filter((scale) => scale !== null);
  if (!scales.length) return { scaled: size, cropped: size };
  const isCover = request.fit === "cover";
  const scale = isCover ? Math.max(...scales) : Math.min(...scales);
  const factor = request.fit === "scale-down" ? Math.min(1, scale) : scale;
  const scaled = {
    width: Math.max(1, Math.round(size.width * factor)),
    height: Math.max(1, Math.round(size.height * factor)),
  };
  if (!isCover) return { scaled, cropped: scaled };
  const cropped = {
    width: Math.min(scaled.width, request.width ?? scaled.width),
    height: Math.min(scaled.height, request.height ?? scaled.height),
  };
  return { scaled, cropped };
}
