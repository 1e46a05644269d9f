import { describe, expect, it } from "vitest";
import { type JourneyFacts, judge, type Observations } from "../../scripts/smoke/assumptions.ts";
import type { BindingRecord } from "../../scripts/smoke/bindings.ts";
import { compareObservations } from "../../scripts/smoke/compare-observations.ts";
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
const chatReply = (content: unknown) => ({
  value: { choices: [{ message: { role: "assistant", content } }] },
  error: null,
});
const JSON_REPLY = chatReply('{"caption": "A page."}');

const BINDINGS: BindingRecord = {
  contact_sheet: {
    value: {
      width: 192,
      height: 72,
      columns: 3,
      size_of: "tile",
      tile_lumas: [15, 43, 72, 100, 127, 156],
    },
    error: null,
  },
  frame: { value: { width: 320, height: 180, luma: 113 }, error: null },
  decoder: { value: { width: 320, height: 180, luma: 113 }, error: null },
  codecs: [
    { codec: "hevc", is_listed: true, value: { width: 320, height: 180, luma: 44 }, error: null },
    { codec: "vp9", is_listed: false, ...refusedWith("9412", "unreadable_frame") },
  ],
  images: [
    { value: { format: "image/jpeg", width: 960, height: 540 }, error: null },
    refusedWith("9412", "unreadable_image"),
    refusedWith("9402", "too_large"),
  ],
  descriptions: [
    { form: "wrapped", ...JSON_REPLY },
    { form: "bare", ...refusedWith("5006", "model_request_rejected") },
  ],
  image_embeddings: ["text", "image"].map((input) => {
    return { form: "input", input, value: { dimensions: 1024, outline: {} }, error: null };
  }),
  vectors: {
    value: { waiting: null, found_after_seconds: 3, cosine: 0.8, score: 0.7995, exact_score: 0.8 },
    error: null,
  },
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
  const value = { ...BINDINGS.contact_sheet!.value!, tile_lumas: tileLumas };
  return withBindings({ contact_sheet: { value, error: null } });
};
const withImage = (at: number, image: BindingRecord["images"][number]): Partial<Observations> =>
  withBindings({ images: BINDINGS.images.with(at, image) });
const withCodec = (at: number, codec: Partial<BindingRecord["codecs"][number]>) =>
  withBindings({
    codecs: BINDINGS.codecs.with(at, { ...BINDINGS.codecs[at]!, ...codec }),
  });
const withScore = (score: number): Partial<Observations> =>
  withBindings({ vectors: { value: { ...BINDINGS.vectors.value!, score }, error: null } });
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
      withBindings({ contact_sheet: refusedWith("9401", "upstream_failed") }),
      [/row by row/, /equal/],
      true,
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
      withCodec(0, { is_listed: false }),
      [/CODECS/],
      false,
    ],
    ["a codec that is listed but refused", withCodec(1, { is_listed: true }), [/CODECS/], false],
    [
      "a codec that is decoded into another frame",
      withCodec(0, { value: { width: 320, height: 180, luma: 16 } }),
      [/CODECS/],
      false,
    ],
    ["an image that is refused", withImage(0, refusedWith("9523", "x")), [/format and size/], true],
    ["a damaged image's code", withImage(1, refusedWith("9599", "x")), [/cut off/], false],
    ["a damaged image that is read", withImage(1, READ_IMAGE), [/cut off/], false],
    ["a wide image that is read", withImage(2, READ_IMAGE), [/12,000/], false],
    ["no description", withJourney({ descriptionErrors: ["x"] }), [/describes a keyframe/], true],
    [
      "a reply that isn't JSON",
      withBindings({ descriptions: [{ form: "wrapped", ...chatReply("A page.") }] }),
      [/form of a request/],
      true,
    ],
    ["no image embeddings", withBindings({ image_embeddings: [] }), [/embeds images/], false],
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

/** What is seen differently, though no assumption is refuted. */
const UNASSUMED: [seen: string, Partial<Observations>][] = [
  [
    "a size that is taken for that of the sheet",
    withBindings({
      contact_sheet: {
        value: { ...BINDINGS.contact_sheet!.value!, size_of: "sheet" },
        error: null,
      },
    }),
  ],
  ["another code of a damaged image", withImage(1, refusedWith("9516", "unreadable_image"))],
  [
    "another shape of a reply",
    withBindings({
      descriptions: [
        { form: "wrapped", value: { response: { caption: "A page." } }, error: null },
        BINDINGS.descriptions[1]!,
      ],
    }),
  ],
  [
    "a form that is taken, too",
    withBindings({ descriptions: [BINDINGS.descriptions[0]!, { form: "bare", ...JSON_REPLY }] }),
  ],
  [
    "more parameters that are taken",
    withBindings({
      database: BINDINGS.database.map(({ limit, size }) => ({ limit, size, error: null })),
    }),
  ],
];

describe("an assumption about the platform", () => {
  it("holds if it was seen", () => {
    const outcomes = judge(AS_ASSUMED).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(outcomes.map(() => "holds"));
    expect(compareObservations(AS_ASSUMED, AS_ASSUMED)).toEqual([]);
  });

  it.each(DIFFERENT)("doesn't hold for %s", (_, difference, refuted, isEssential) => {
    const seen = { ...AS_ASSUMED, ...difference };
    const broken = judge(seen).filter(({ outcome }) => outcome !== "holds");
    expect(broken.map(({ outcome }) => outcome)).toEqual(refuted.map(() => "doesn't hold"));
    for (const [i, { assumption }] of broken.entries()) expect(assumption).toMatch(refuted[i]!);
    expect(broken.some(({ essential }) => essential)).toBe(isEssential);
    expect(compareObservations(AS_ASSUMED, seen)).not.toEqual([]);
    expect(compareObservations(seen, AS_ASSUMED)).not.toEqual([]);
  });

  it.each(UNASSUMED)("holds for %s, which is a difference to a recording", (_, difference) => {
    const seen = { ...AS_ASSUMED, ...difference };
    expect(judge(seen)).toEqual(
      judge(seen).map((verdict) => Object.assign(verdict, { outcome: "holds" })),
    );
    expect(compareObservations(AS_ASSUMED, seen)).toHaveLength(1);
  });

  it("isn't checked without a recogniser, a large body, the bindings or an ingest", () => {
    const countUnchecked = (difference: Partial<Observations>) => {
      const seen = { ...AS_ASSUMED, ...difference };
      expect(compareObservations(AS_ASSUMED, seen)).toEqual([]);
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
