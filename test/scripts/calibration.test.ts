import { describe, expect, it } from "vitest";
import { rankings } from "../../bench/rankings.ts";
import { binForecasts, calibrationError } from "../../bench/reliability.ts";
import { drawReliability } from "../../bench/reliability-diagram.ts";
import type { Truth } from "../../scripts/calibration/corpus.ts";
import { fitReasons } from "../../scripts/calibration/fit.ts";
import { toObserved } from "../../scripts/calibration/observe.ts";
import { askAbout, createJudge } from "../../scripts/calibration/questions.ts";
import { createRandom } from "../../scripts/picture-space/random.ts";
import { type Calibration, probabilityOf, type Reason } from "../../src/search/fuse.ts";

const dog: Truth = {
  file: "dog.jpg",
  at: null,
  captions: ["A brown dog runs on sand.", "The dog is running by the sea."],
};
const boat: Truth = { file: "film.mp4", at: 7.5, captions: ["Two boats on the sea."] };

describe("the judge", () => {
  const judge = createJudge([dog, boat]);
  it.each<[string, string, Truth[]]>([
    ["boat", "", [boat]],
    ["the sea", "", [dog, boat]],
    ["brown dogs run", "", [dog]],
    ["a dog on a boat", "", []],
    ["dog mustard", dog.captions[0]!, [dog]],
  ])("answers “%s”", (text, caption, right) => {
    expect(judge({ text, caption, form: "words", isPresent: true })).toEqual(right);
  });
});

it("questions are made of captions, a quarter of them of what isn't there", () => {
  const corpus = { files: [], truths: [dog, boat], absent: ["A red kite over a castle."] };
  const questions = askAbout(corpus, 100, createRandom(1));
  expect(questions).toEqual(askAbout(corpus, 100, createRandom(1)));
  expect(questions.filter(({ isPresent }) => !isPresent)).toHaveLength(25);
  for (const { text, caption, form } of questions) {
    expect(text).not.toBe("");
    if (form === "sentence") expect(text).toBe(caption);
    else expect(text.length).toBeLessThan(caption.length);
  }
});

it("a hit is right where the moment that was described lies in it", () => {
  const hit = { ...blank, title: "film.mp4", signals: {}, score: 0.5 };
  const at = (start: number, end: number) => ({ ...hit, start_seconds: start, end_seconds: end });
  const { hits: observed, wanted } = toObserved([at(0, 5), at(5, 10)], [boat]);
  expect(observed.map(({ isRight }) => isRight)).toEqual([false, true]);
  expect(wanted).toBe(1);
});

const blank = {
  asset_id: "",
  caption: "",
  transcript: "",
  on_screen_text: "",
  labels: [],
  clip_url: "",
  evidence: [],
};

describe("a fit", () => {
  const said = {
    bias: -2,
    weights: {
      told: { from: 0, power: 1, weight: 4 },
      picture: { from: 0.2, power: 1, weight: 0 },
    },
  };
  const seen = { bias: -4, weights: { picture: { from: 0.5, power: 2, weight: 24 } } };
  const random = createRandom(1);
  const make = (count: number, reasons: Calibration) =>
    Array.from({ length: count }, () => {
      const signals = { told: random(), picture: random() };
      return { signals, isRight: random() < probabilityOf(signals, reasons) };
    });
  const examples = make(5000, [said]);

  it("finds what made the examples", () => {
    const [{ bias, weights }] = fitReasons(examples, [said.weights]) as [Reason];
    expect(bias).toBeCloseTo(-2, 0);
    expect(weights.told!.weight).toBeGreaterThan(3.5);
    expect(weights.told!.weight).toBeLessThan(4.5);
    expect(weights.picture!.weight).toBeLessThan(0.3);
  });

  it("finds each of two reasons, either of which is enough", () => {
    const both = make(20_000, [said, seen]);
    const reasons = fitReasons(both, [{ told: said.weights.told }, seen.weights]);
    expect(reasons[0]!.weights.told!.weight).toBeCloseTo(4, 0);
    expect(reasons[1]!.weights.picture!.weight / 24).toBeCloseTo(1, 0);
    for (const { signals } of both.slice(0, 100)) {
      const off = probabilityOf(signals, reasons) - probabilityOf(signals, [said, seen]);
      expect(Math.abs(off)).toBeLessThan(0.05);
    }
  });

  it("counts an example as often as its weight says", () => {
    const twice = examples.flatMap((one, i) => (i % 2 === 0 ? [one, one] : [one]));
    const heavy = examples.map((one, i) => Object.assign({ weight: i % 2 === 0 ? 2 : 1 }, one));
    const [one] = fitReasons(twice, [said.weights]) as [Reason];
    const [other] = fitReasons(heavy, [said.weights]) as [Reason];
    expect(other.bias).toBeCloseTo(one.bias, 6);
    expect(other.weights.told!.weight).toBeCloseTo(one.weights.told!.weight, 6);
  });

  it("has no weight below 0, even where more of a signal is worse", () => {
    const worse = examples.map(({ signals, isRight }) => ({ signals, isRight: !isRight }));
    const [reason] = fitReasons(worse, [said.weights]) as [Reason];
    expect(reason.weights.told!.weight).toBe(0);
  });

  it("holds where a signal settles everything", () => {
    const settled = [0, 1].map((one) => ({ signals: { told: one }, isRight: one === 1 }));
    const [reason] = fitReasons(settled, [{ told: { from: 0, power: 1 } }]) as [Reason];
    expect(probabilityOf({ told: 1 }, [reason])).toBeGreaterThan(0.9);
    expect(Number.isFinite(reason.bias)).toBe(true);
  });
});

describe("scores", () => {
  const forecast = (score: number, isRight: boolean) => ({ score, isRight });
  it.each<[string, { score: number; isRight: boolean }[], number]>([
    ["as they should", [forecast(1, true), forecast(0, false)], 0],
    ["never", [forecast(0.95, false)], 0.95],
    ["half of the time", [forecast(0.52, true), forecast(0.54, false)], 0.03],
    ["by their number", [forecast(0, false), forecast(0, false), forecast(1, false)], 1 / 3],
  ])("come true %s", (_, forecasts, error) => {
    expect(calibrationError(binForecasts(forecasts))).toBeCloseTo(error);
  });

  it("are drawn, a circle for each bin", () => {
    const svg = drawReliability(binForecasts([forecast(0.1, false), forecast(0.9, true)]));
    expect(svg.match(/<circle /g)).toHaveLength(2);
  });
});

it("rankings are those of each channel, and of the ways to fuse them", () => {
  const a = { signals: { bm25: 1, picture: 0.1 }, isRight: true };
  const b = { signals: { picture: 0.9, meaningLead: 0.3 }, isRight: false };
  const c = { signals: { bm25: 0.2, picture: 0.5, meaningLead: 0.2 }, isRight: false };
  expect(rankings([c, b, a])).toEqual({
    words: [a, c],
    meaning: [b, c],
    looks: [b, c, a],
    "reciprocal rank": [c, b, a],
    "min-max sum": [b, a, c],
    fused: [c, b, a],
  });
});
