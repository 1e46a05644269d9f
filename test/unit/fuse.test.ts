import { describe, expect, it } from "vitest";
import { CALIBRATIONS } from "../../src/search/calibration.ts";
import { probabilityOf } from "../../src/search/fuse.ts";
import { mergeSignals, type Signals } from "../../src/search/signals.ts";

describe("signals", () => {
  const reason = {
    bias: -2,
    weights: {
      said: { from: 0, power: 2, weight: 4 },
      picture: { from: 0.2, power: 1, weight: 10 },
    },
  };

  it.each<[string, Signals, number]>([
    ["nothing", {}, -2],
    ["one", { said: 0.5 }, -1],
    ["two", { said: 1, picture: 0.3 }, 3],
    ["one that says nothing yet", { picture: 0.1 }, -2],
    ["one that nobody has weighed", { shown: 1 }, -2],
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
    const merged = mergeSignals([{ said: 0.2, picture: 0.5 }, { said: 1 }, { pictureLead: -0.1 }]);
    expect(merged).toEqual({ said: 1, picture: 0.5, pictureLead: -0.1 });
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
