import { describe, expect, it } from "vitest";
import { signalsOf } from "../../src/search/candidates.ts";
import { CALIBRATIONS } from "../../src/search/calibration.ts";
import { probabilityOf } from "../../src/search/fuse.ts";
import { mergeSignals, type Signals } from "../../src/search/signals.ts";

describe("signals", () => {
  const reason = {
    bias: -2,
    weights: {
      told: { from: 0, power: 2, weight: 4 },
      picture: { from: 0.2, power: 1, weight: 10 },
    },
  };

  it.each<[string, Signals, number]>([
    ["nothing", {}, -2],
    ["one", { told: 0.5 }, -1],
    ["two", { told: 1, picture: 0.3 }, 3],
    ["one that says nothing yet", { picture: 0.1 }, -2],
    ["one that nobody has weighed", { same: 1 }, -2],
  ])("become a probability: %s", (_, signals, logOdds) => {
    const expected = 1 / (1 + Math.exp(-logOdds));
    expect(probabilityOf(signals, [reason])).toBeCloseTo(expected, 10);
  });

  it.each<[string, number[], number]>([
    ["none", [], 0],
    ["one", [0.3], 0.3],
    ["two, either of which is enough", [0.5, 0.5], 0.75],
    ["one that is sure", [1, 0.2], 1],
    ["two that hardly say anything", [0.01, 0.02], 0.0298],
  ])("of several reasons become a probability: %s", (_, likely, expected) => {
    const reasons = likely.map((p) => ({ bias: Math.log(p / (1 - p)), weights: {} }));
    expect(probabilityOf({}, reasons)).toBeCloseTo(expected, 10);
  });

  it("are merged by the strongest", () => {
    const merged = mergeSignals([{ told: 0.2, picture: 0.5 }, { told: 1 }, { pictureLead: -0.1 }]);
    expect(merged).toEqual({ told: 1, picture: 0.5, pictureLead: -0.1 });
  });

  const passage = (kind: "caption" | "speech" | "visual", ...terms: number[]) => {
    return { kind, isBoxes: false, matches: terms.map((term) => ({ term, start: 0, end: 0 })) };
  };
  const near = (kind: "caption" | "speech" | "visual", signals: Signals) => {
    return { evidence: { kind, score: 0 }, signals };
  };
  const passages = [passage("caption", 0), passage("visual", 0, 1), passage("speech", 2)];
  const looks = near("visual", { picture: 0.3 });
  const found = [
    { evidence: null, signals: { bm25: 0.4 } },
    near("caption", { meaningLead: 0.2 }),
    near("speech", { meaningLead: 0.1 }),
    looks,
  ];
  it.each<[string, string | null, Parameters<typeof signalsOf>[1], typeof passages, Signals]>([
    ["a model", "m", found, passages, { told: 1, bm25: 0.4, meaningLead: 0.2, picture: 0.3 }],
    ["a person", null, found, passages, { told: 1, bm25: 0.4, meaningLead: 0.2, picture: 0.3 }],
    [
      "nobody, but composed of what was detected",
      "composed",
      found,
      passages,
      { told: 0.25, bm25: 0.25, detected: 0.75, meaningLead: 0.1, picture: 0.3 },
    ],
    ["nobody, where nothing is said", "composed", [looks], [], { picture: 0.3 }],
    [
      "a model, and boxes",
      "m",
      [],
      [{ ...passage("visual", 2), isBoxes: true }],
      { detected: 0.25 },
    ],
    ["nobody, and labels alone match", "composed", [], [passage("visual", 1)], { detected: 0.5 }],
  ])("of a segment whose caption is by %s", (_, captionModel, findings, read, signals) => {
    expect(signalsOf({ captionModel }, findings, read, [1, 2, 1])).toEqual(signals);
  });

  it("never count for less by being more, as they are weighed", () => {
    for (const { tells, looks, likeness } of CALIBRATIONS) {
      for (const reason of [...tells, looks, likeness]) {
        const weights = Object.values(reason?.weights ?? {});
        for (const { weight } of weights) expect(weight).toBeGreaterThanOrEqual(0);
      }
    }
  });

  it("make nothing likely where there is hardly anything and nothing is known of it", () => {
    for (const { tells, looks, likeness } of CALIBRATIONS) {
      for (const reasons of [[...tells, ...(looks ? [looks] : [])], [likeness]]) {
        expect(probabilityOf({ few: 0 }, reasons)).toBeLessThan(0.1);
      }
    }
  });
});
