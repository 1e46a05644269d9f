import { describe, expect, it } from "vitest";
import { type Fit, fitSize } from "../../local/engine/media-fit.ts";

type Side = number | null;

describe("a 1280×720 frame", () => {
  it.each<[Fit, Side, Side, [number, number], [number, number]]>([
    ["contain", null, null, [1280, 720], [1280, 720]],
    ["contain", 640, null, [640, 360], [640, 360]],
    ["contain", null, 360, [640, 360], [640, 360]],
    ["contain", 640, 640, [640, 360], [640, 360]],
    ["contain", 2560, 2560, [2560, 1440], [2560, 1440]],
    ["scale-down", 640, 640, [640, 360], [640, 360]],
    ["scale-down", 2560, 2560, [1280, 720], [1280, 720]],
    ["cover", 360, 360, [640, 360], [360, 360]],
    ["cover", 1000, 100, [1000, 563], [1000, 100]],
    ["cover", 640, null, [640, 360], [640, 360]],
    ["contain", 1, 1, [1, 1], [1, 1]],
  ])(
    "with fit %s into %s×%s is scaled to %j and cropped to %j",
    (fit, width, height, scaled, cropped) => {
      const fitted = fitSize({ width: 1280, height: 720 }, { width, height, fit });
      expect([fitted.scaled.width, fitted.scaled.height]).toEqual(scaled);
      expect([fitted.cropped.width, fitted.cropped.height]).toEqual(cropped);
    },
  );
});
