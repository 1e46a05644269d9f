import { describe, expect, it } from "vitest";
import { type JourneyFacts, judge, type Observations } from "../../scripts/smoke/assumptions.ts";
import type { BindingRecord } from "../../scripts/smoke/binding-record.ts";
import type { EdgeFacts } from "../../scripts/smoke/edge.ts";

const JOURNEY: JourneyFacts = {
  boundaries: [0, 5, 11.04, 14.8],
  sceneTexts: ["Alpine Notebook", "", "HIGH\nPASTURES", ""],
  descriptionErrors: [],
  recognizedWords: 15,
  spokenWords: 17,
  vectorSeconds: 8,
  largestSearch: 404,
};

const refusedWith = (code: string, meaning: string) => ({ value: null, error: { code, meaning } });
/** Lumas of the tiles of a sheet of the long ramp. */
const longRampLumas = (tiles: number) => Array.from({ length: tiles }, (_, i) => 16 + (i % 32) * 7);
const fullSheet = (tiles: number) =>
  ({
    tiles,
    value: { width: 9, height: 9, columns: 9, sizeOf: "tile", tileLumas: longRampLumas(tiles) },
    error: null,
  }) as const;

const BINDINGS: BindingRecord = {
  sheet: {
    value: {
      width: 192,
      height: 72,
      columns: 3,
      sizeOf: "tile",
      tileLumas: [15, 43, 72, 100, 127, 156],
    },
    error: null,
  },
  fullSheets: [fullSheet(96)],
  frame: { value: { width: 320, height: 180, luma: 113 }, error: null },
  decoder: { value: { width: 320, height: 180, luma: 113 }, error: null },
  codecs: [
    {
      codec: "hevc",
      isListed: true,
      frame: { value: { width: 320, height: 180, luma: 44 }, error: null },
    },
    { codec: "vp9", isListed: false, frame: refusedWith("9412", "unreadable_frame") },
  ],
  images: [
    { value: { format: "image/jpeg", width: 960, height: 540 }, error: null },
    refusedWith("9412", "unreadable_image"),
    refusedWith("9402", "too_large"),
  ],
  embeddings: [
    { input: "text", value: 1024, error: null },
    { input: "image", value: 1024, error: null },
  ],
  vector: { value: { cosine: 0.8, score: 0.7995 }, error: null },
  database: [
    { limit: "parameters", size: 100, error: null },
    { limit: "parameters", size: 101, error: { code: "D1_ERROR", meaning: "internal" } },
    { limit: "value_bytes", size: 2_000_000, error: null },
  ],
};

const EDGE: EdgeFacts = {
  console: { status: 200, hasHeaders: true },
  rateLimitPolicy: '"key";q=600;w=60',
  fetchable: [],
  sweep: { secondsAgo: 30 },
  largeBody: { status: 413, byWorker: false },
};

const AS_ASSUMED: Observations = {
  journey: JOURNEY,
  bindings: BINDINGS,
  edge: EDGE,
};

const withJourney = (journey: Partial<JourneyFacts>): Partial<Observations> => ({
  journey: { ...JOURNEY, ...journey },
});
const withBindings = (bindings: Partial<BindingRecord>): Partial<Observations> => ({
  bindings: { ...BINDINGS, ...bindings },
});
const withEdge = (edge: Partial<EdgeFacts>): Partial<Observations> => ({
  edge: { ...EDGE, ...edge },
});
const withTiles = (...tileLumas: number[]): Partial<Observations> => {
  const value = { ...BINDINGS.sheet.value!, tileLumas };
  return withBindings({ sheet: { value, error: null } });
};
const withImage = (at: number, image: BindingRecord["images"][number]): Partial<Observations> =>
  withBindings({ images: BINDINGS.images.with(at, image) });
const withCodec = (at: number, codec: Partial<BindingRecord["codecs"][number]>) =>
  withBindings({
    codecs: BINDINGS.codecs.with(at, { ...BINDINGS.codecs[at]!, ...codec }),
  });
const withScore = (score: number): Partial<Observations> =>
  withBindings({ vector: { value: { ...BINDINGS.vector.value!, score }, error: null } });
const READ_IMAGE = BINDINGS.images[0]!;
const WITHOUT_PARAMETERS = BINDINGS.database.map((observed) => ({
  ...observed,
  error: { code: "D1_ERROR", meaning: "internal" },
}));

/** What is seen, the assumptions that it refutes, and whether the service needs one of them. */
const DIFFERENT: [seen: string, Partial<Observations>, refuted: RegExp[], isEssential: boolean][] =
  [
    ["a late cut", withJourney({ boundaries: [0, 5.6, 11, 15] }), [/Cuts/], true],
    ["a missing cut", withJourney({ boundaries: [0, 5, 11] }), [/Cuts/], true],
    ["texts of other scenes", withJourney({ sceneTexts: ["", "Alpine"] }), [/text of each/], true],
    ["tiles column by column", withTiles(15, 100, 43, 127, 72, 156), [/row by row/, /equal/], true],
    ["tiles from the middle of parts", withTiles(30, 58, 86, 114, 142, 170), [/equal/], false],
    ["a missing tile", withTiles(15, 43, 72, 100, 127), [/row by row/, /equal/], true],
    [
      "no contact sheet",
      withBindings({ sheet: refusedWith("9401", "upstream_failed") }),
      [/row by row/, /equal/],
      true,
    ],
    [
      "a large sheet that is refused",
      withBindings({
        fullSheets: [
          { tiles: 96, ...refusedWith("9401", "upstream_failed") },
          { tiles: 48, ...refusedWith("9401", "upstream_failed") },
          fullSheet(24),
        ],
      }),
      [/96 tiles/],
      false,
    ],
    [
      "a large sheet of other frames",
      withBindings({
        fullSheets: [
          {
            ...fullSheet(96),
            value: { ...fullSheet(96).value, tileLumas: longRampLumas(97).slice(1) },
          },
        ],
      }),
      [/96 tiles/],
      false,
    ],
    [
      "another frame",
      withBindings({ frame: { value: { width: 320, height: 180, luma: 16 }, error: null } }),
      [/A frame/],
      true,
    ],
    [
      "a decoder that is away",
      withBindings({ decoder: refusedWith("503", "upstream_unavailable") }),
      [/The decoder/],
      false,
    ],
    [
      "a codec that is decoded but not listed",
      withCodec(0, { isListed: false }),
      [/CODECS/],
      false,
    ],
    ["a codec that is listed but refused", withCodec(1, { isListed: true }), [/CODECS/], false],
    [
      "a codec that is decoded into another frame",
      withCodec(0, { frame: { value: { width: 320, height: 180, luma: 16 }, error: null } }),
      [/CODECS/],
      false,
    ],
    ["an image that is refused", withImage(0, refusedWith("9523", "x")), [/format and size/], true],
    ["a damaged image's code", withImage(1, refusedWith("9599", "x")), [/cut off/], false],
    ["a damaged image that is read", withImage(1, READ_IMAGE), [/cut off/], false],
    ["a wide image that is read", withImage(2, READ_IMAGE), [/12,000/], false],
    ["no description", withJourney({ descriptionErrors: ["x"] }), [/describes a keyframe/], true],
    [
      "texts and images of other lengths",
      withBindings({
        embeddings: [BINDINGS.embeddings[0]!, { ...BINDINGS.embeddings[1]!, value: 8 }],
      }),
      [/embeds images/],
      false,
    ],
    [
      "no image embeddings",
      withBindings({
        embeddings: (["text", "image"] as const).map((input) => {
          return Object.assign({ input }, refusedWith("5007", "model_not_found"));
        }),
      }),
      [/embeds images/],
      false,
    ],
    ["few words", withJourney({ recognizedWords: 3 }), [/Speech/], true],
    ["a slow vector", withJourney({ vectorSeconds: 150 }), [/within 120 s/], false],
    ["no vector", withJourney({ vectorSeconds: null }), [/within 120 s/], false],
    ["another score", withScore(0.7), [/cosine/], false],
    ["refused parameters", withBindings({ database: WITHOUT_PARAMETERS }), [/D1 takes/], true],
    ["a failed search", withJourney({ largestSearch: 500 }), [/largest search/], true],
    ["no cron trigger", withEdge({ sweep: null }), [/cron/], true],
    ["a late cron trigger", withEdge({ sweep: { secondsAgo: 900 } }), [/cron/], true],
    [
      "a console without headers",
      withEdge({ console: { status: 200, hasHeaders: false } }),
      [/console/],
      true,
    ],
    ["no rate limit", withEdge({ rateLimitPolicy: null }), [/rate limits/], true],
    ["a private address", withEdge({ fetchable: ["http://127.0.0.1/a.jpg"] }), [/private/], true],
    [
      "a large body's end",
      withEdge({ largeBody: { status: 502, byWorker: false } }),
      [/100 MB/],
      false,
    ],
  ];

describe("an assumption about the platform", () => {
  it("holds if it was seen", () => {
    const outcomes = judge(AS_ASSUMED).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(outcomes.map(() => "holds"));
  });

  it.each(DIFFERENT)("doesn't hold for %s", (_, difference, refuted, isEssential) => {
    const seen = { ...AS_ASSUMED, ...difference };
    const broken = judge(seen).filter(({ outcome }) => outcome !== "holds");
    expect(broken.map(({ outcome }) => outcome)).toEqual(refuted.map(() => "doesn't hold"));
    for (const [i, { assumption }] of broken.entries()) expect(assumption).toMatch(refuted[i]!);
    expect(broken.some(({ essential }) => essential)).toBe(isEssential);
  });

  it("isn't checked without a recogniser, a large body, the bindings or an ingest", () => {
    const countUnchecked = (difference: Partial<Observations>) => {
      const seen = { ...AS_ASSUMED, ...difference };
      return judge(seen).filter(({ outcome }) => outcome === "not checked").length;
    };
    expect(countUnchecked(withJourney({ recognizedWords: null }))).toBe(1);
    expect(countUnchecked(withEdge({ largeBody: null }))).toBe(1);
    expect(countUnchecked(withEdge({ sweep: "unknown" }))).toBe(1);
    const [bindings, journey, edge] = [
      countUnchecked({ bindings: null }),
      countUnchecked({ journey: null }),
      countUnchecked({ edge: null }),
    ];
    expect(bindings + journey + edge).toBe(judge(AS_ASSUMED).length);
  });
});
