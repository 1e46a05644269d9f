import { describe, expect, it } from "vitest";
import { CALIBRATIONS } from "../../../src/search/calibration.ts";
import { combineSignals } from "../../../src/search/evidence.ts";
import { mergeSignals, probabilityOfAny, type Signals } from "../../../src/search/fuse.ts";

describe("signals", () => {
  const model = {
    bias: -2,
    weights: {
      term_coverage: { threshold: 0, exponent: 2, weight: 4 },
      image_similarity: { threshold: 0.2, exponent: 1, weight: 10 },
    },
  };

  it.each<[string, Signals, number]>([
    ["no signal", {}, -2],
    ["one signal", { term_coverage: 0.5 }, -1],
    ["two signals", { term_coverage: 1, image_similarity: 0.3 }, 3],
    ["a signal below its threshold", { image_similarity: 0.1 }, -2],
    ["a signal without a weight", { copy_similarity: 1 }, -2],
  ])("of one evidence model become a probability: %s", (_, signals, logOdds) => {
    const expected = 1 / (1 + Math.exp(-logOdds));
    expect(probabilityOfAny(signals, [model])).toBeCloseTo(expected, 10);
  });

  it.each<[string, number[], number]>([
    ["no model", [], 0],
    ["one model", [0.3], 0.3],
    ["two models with 0.5 each", [0.5, 0.5], 0.75],
    ["a model with certainty", [1, 0.2], 1],
    ["two models near 0", [0.01, 0.02], 0.0298],
  ])("of several evidence models are combined by noisy-or: %s", (_, probabilities, expected) => {
    const models = probabilities.map((p) => ({ bias: Math.log(p / (1 - p)), weights: {} }));
    expect(probabilityOfAny({}, models)).toBeCloseTo(expected, 10);
  });

  it("are merged by their highest values", () => {
    const merged = mergeSignals([
      { term_coverage: 0.2, image_similarity: 0.5 },
      { term_coverage: 1 },
      { image_margin: -0.1 },
    ]);
    expect(merged).toEqual({ term_coverage: 1, image_similarity: 0.5, image_margin: -0.1 });
  });

  const field = (kind: "caption" | "speech" | "visual", ...terms: number[]) => {
    const matches = terms.map((term) => ({ term, isExact: true, start: 0, end: 0 }));
    return { kind, isLabels: false, matches };
  };
  const withNumber = (match: ReturnType<typeof field>, number: number) => ({
    ...match,
    matches: match.matches.map((one) =>
      one.term === number ? { ...one, isNumber: true as const } : one,
    ),
  });
  const vectorHit = (kind: "caption" | "speech" | "visual", signals: Signals) => {
    return { evidence: { kind, score: 0 }, signals };
  };
  const fields = [field("caption", 0), field("visual", 0, 1), field("speech", 2)];
  const imageHit = vectorHit("visual", { image_similarity: 0.3 });
  const channelHits = [
    { evidence: null, signals: { bm25_normalized: 0.4 } },
    vectorHit("caption", { text_margin: 0.2 }),
    vectorHit("speech", { text_margin: 0.1 }),
    imageHit,
  ];
  it.each<[string, string | null, Parameters<typeof combineSignals>[1], typeof fields, Signals]>([
    [
      "written by a model",
      "m",
      channelHits,
      fields,
      { term_coverage: 1, bm25_normalized: 0.4, text_margin: 0.2, image_similarity: 0.3 },
    ],
    [
      "written by a person",
      null,
      channelHits,
      fields,
      { term_coverage: 1, bm25_normalized: 0.4, text_margin: 0.2, image_similarity: 0.3 },
    ],
    [
      "a template",
      "template",
      channelHits,
      fields,
      {
        term_coverage: 0.25,
        bm25_normalized: 0.25,
        label_coverage: 0.75,
        text_margin: 0.1,
        image_similarity: 0.3,
      },
    ],
    ["a template, without a matched field", "template", [imageHit], [], { image_similarity: 0.3 }],
    [
      "written by a model, with matched box labels",
      "m",
      [],
      [{ ...field("visual", 2), isLabels: true }],
      { label_coverage: 0.25 },
    ],
    [
      "a template, with matched labels only",
      "template",
      [],
      [field("visual", 1)],
      { label_coverage: 0.5 },
    ],
    [
      "a template, with a matched number beside a label",
      "template",
      [],
      [withNumber(field("caption", 0, 1), 0)],
      { label_coverage: 0.5 },
    ],
    [
      "written by a model, with a matched number",
      "m",
      [],
      [withNumber(field("caption", 0, 1), 0)],
      { term_coverage: 0.75, bm25_normalized: 0 },
    ],
  ])("of a segment are combined; its caption is %s", (_, captionModel, hits, matches, signals) => {
    const fieldMatches = matches.map((match) =>
      captionModel === "template" && match.kind !== "speech" ? { ...match, isLabels: true } : match,
    );
    expect(combineSignals({ captionModel }, hits, fieldMatches, [1, 2, 1])).toEqual(signals);
  });

  it("have no negative weights in any calibration", () => {
    for (const { text, image, example } of CALIBRATIONS) {
      for (const evidenceModel of [...text, image, example]) {
        const weights = Object.values(evidenceModel?.weights ?? {});
        for (const { weight } of weights) expect(weight).toBeGreaterThanOrEqual(0);
      }
    }
  });

  it("of a single segment without evidence give a probability below 0.1", () => {
    for (const { text, image, example } of CALIBRATIONS) {
      for (const models of [[...text, ...(image ? [image] : [])], [example]]) {
        expect(probabilityOfAny({}, models)).toBeLessThan(0.1);
      }
    }
  });
});
