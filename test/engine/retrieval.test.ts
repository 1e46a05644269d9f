import { describe, expect, it } from "vitest";
import { measureRetrieval } from "../../bench/retrieval.ts";

describe("retrieval", () => {
  it("is perfect where each caption lies on its own picture", () => {
    const all = { r1: 100, r5: 100, r10: 100, median_rank: 1 };
    const pictures = [
      [1, 0],
      [0, 1],
    ];
    expect(measureRetrieval(pictures, [...pictures, [0.6, 0.8]], [0, 1, 1])).toEqual({
      text_to_picture: all,
      picture_to_text: all,
      pictures: 2,
      captions: 3,
    });
  });

  it("counts what comes before the right one, both ways", () => {
    const angles = Array.from({ length: 12 }, (_, at) => (at * Math.PI) / 24);
    const pictures = angles.map((angle) => [Math.cos(angle), Math.sin(angle)]);
    const { text_to_picture, picture_to_text } = measureRetrieval(
      pictures,
      pictures.map(() => [1, 0]),
      pictures.map((_, at) => at),
    );
    expect(text_to_picture).toEqual({ r1: 8.3, r5: 41.7, r10: 83.3, median_rank: 6 });
    // Captions that are alike come before none of each other.
    expect(picture_to_text).toEqual({ r1: 100, r5: 100, r10: 100, median_rank: 1 });
  });
});
