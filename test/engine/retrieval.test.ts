import { describe, expect, it } from "vitest";
import { measureRetrieval } from "../../tools/retrieval.ts";

describe("retrieval recall", () => {
  it("is perfect if each caption is nearest to its own image", () => {
    const perfect = { r1: 100, r5: 100, r10: 100, median_rank: 1 };
    const images = [
      [1, 0],
      [0, 1],
    ];
    expect(measureRetrieval(images, [...images, [0.6, 0.8]], [0, 1, 1])).toEqual({
      text_to_image: perfect,
      image_to_text: perfect,
      images: 2,
      captions: 3,
    });
  });

  it("counts the items ranked before the right one, in both directions", () => {
    const angles = Array.from({ length: 12 }, (_, at) => (at * Math.PI) / 24);
    const images = angles.map((angle) => [Math.cos(angle), Math.sin(angle)]);
    const { text_to_image, image_to_text } = measureRetrieval(
      images,
      images.map(() => [1, 0]),
      images.map((_, at) => at),
    );
    expect(text_to_image).toEqual({ r1: 8.3, r5: 41.7, r10: 83.3, median_rank: 6 });
    // Captions with equal scores don't rank before one another.
    expect(image_to_text).toEqual({ r1: 100, r5: 100, r10: 100, median_rank: 1 });
  });
});
