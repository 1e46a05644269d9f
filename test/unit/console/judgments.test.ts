import { describe, expect, it } from "vitest";

interface Judged {
  id: string;
  isRelevant: boolean | null;
}

interface Bin {
  judgments: number;
  predicted: number;
  observed: number;
  low: number;
  high: number;
}

interface Route {
  example: { kind: string } | null;
  refined: string;
}

/** The functions under test; the console is plain JavaScript without types. */
interface Refinements {
  MAX_REFINING: number;
  addJudgment: (refinement: Judged[], id: string, isRelevant: boolean | null) => Judged[] | null;
  addSkipped: (refinement: Judged[], ids: string[]) => Judged[];
  lastJudgment: (refinement: Judged[]) => Judged | undefined;
  MAX_SKIPPED: number;
  readRefinement: (route: Route) => Judged[];
  refinementFields: (refinement: Judged[]) => Record<string, string[]>;
  refinementText: (refinement: Judged[]) => string;
  writeRefinement: (refinement: Judged[]) => string;
}
interface Keys {
  judgmentOfKey: (event: object) => boolean | null;
}
interface Wording {
  calibrationText: (state: string, setting?: string) => string;
  formatPoints: (bins: Bin[]) => string;
  pointRows: (bins: Bin[]) => string[][];
  precisionRows: (precision: object[]) => string[][];
  requirementText: (judgments: number) => string;
  summaryFacts: (figures: object) => string[][];
}
interface Routes {
  readRoute: (hash: string) => Route;
  routeHash: (route: object) => string;
}

const load = (name: string) =>
  import(new URL(`../../../console/console/${name}.js`, import.meta.url).href);
const refinements = (await load("judgments/refinement")) as Refinements;
const { addJudgment, MAX_REFINING, refinementFields, refinementText } = refinements;
const { judgmentOfKey } = (await load("judgments/judging-keys")) as Keys;
const wording = (await load("judgments/quality-wording")) as Wording;
const { readRoute, routeHash } = (await load("shared/route")) as Routes;

const readRefinement = (refined: string, kind?: string) =>
  refinements.readRefinement({ example: kind === undefined ? null : { kind }, refined });
const yes = (id: string): Judged => ({ id, isRelevant: true });
const no = (id: string): Judged => ({ id, isRelevant: false });
const skipped = (id: string): Judged => ({ id, isRelevant: null });

describe("what refines a search", () => {
  it.each([
    [[], ""],
    [[yes("seg_1")], "seg_1"],
    [[no("seg_2"), yes("seg_1"), no("seg_3")], "-seg_2,seg_1,-seg_3"],
    [[yes("seg_1"), skipped("seg_2"), skipped("seg_3")], "seg_1,~seg_2,~seg_3"],
  ])("%j is %j in the hash, from which it is read in the same order", (refinement, text) => {
    expect(refinements.writeRefinement(refinement)).toBe(text);
    expect(readRefinement(text)).toEqual(refinement);
    const hash = routeHash({ index: "holidays", query: "boat", refined: text });
    expect(refinements.readRefinement(readRoute(hash))).toEqual(refinement);
  });

  it.each([
    ["", []],
    ["vid_1,seg_1,--seg_2,seg_,,<b>", [yes("seg_1")]],
    ["seg_1,-seg_1", [no("seg_1")]],
  ])("is read from %j without what is invalid, each segment once", (text, refinement) => {
    expect(readRefinement(text)).toEqual(refinement);
  });

  it("has at most 20 segments of each kind, also from the hash", () => {
    const ids = Array.from({ length: MAX_REFINING + 1 }, (_, i) => `seg_${i}`);
    const full = readRefinement(ids.join(","));
    expect(full).toHaveLength(20);
    expect(addJudgment(full, "seg_x", true)).toBeNull();
    expect(addJudgment(full, "seg_x", false)).toHaveLength(21);
    expect(addJudgment(full, "seg_0", false)).toHaveLength(20);
  });

  it("has the newest judgment last, and none that was taken back", () => {
    const refinement = [yes("seg_1"), no("seg_2")];
    expect(addJudgment(refinement, "seg_1", false)).toEqual([no("seg_2"), no("seg_1")]);
    expect(addJudgment(refinement, "seg_1", null)).toEqual([no("seg_2")]);
    expect(addJudgment(refinement, "seg_3", null)).toEqual(refinement);
  });

  it.each([
    [[yes("seg_1")], { more_like: ["seg_1"] }, "Refined by 1 relevant moment"],
    [[no("seg_1")], { less_like: ["seg_1"] }, "Refined by 1 not relevant moment"],
    [
      [no("seg_3"), yes("seg_1"), yes("seg_2")],
      { more_like: ["seg_1", "seg_2"], less_like: ["seg_3"] },
      "Refined by 2 relevant and 1 not relevant moments",
    ],
    [
      [yes("seg_1"), skipped("seg_2"), skipped("seg_3")],
      { more_like: ["seg_1"], skipped: ["seg_2", "seg_3"] },
      "Refined by 1 relevant moment, without 2 shown before",
    ],
    [[skipped("seg_2")], { skipped: ["seg_2"] }, "Without 1 shown before"],
  ])("%j is sent as %j, and reads “%s”", (refinement, fields, text) => {
    expect(refinementFields(refinement)).toEqual(fields);
    expect(refinementText(refinement)).toBe(text);
  });

  it("leaves out what was passed over, but not what is judged", () => {
    const refinement = refinements.addSkipped([yes("seg_1"), skipped("seg_2")], ["seg_1", "seg_3"]);
    expect(refinement).toEqual([yes("seg_1"), skipped("seg_2"), skipped("seg_3")]);
    expect(refinements.lastJudgment(refinement)).toEqual(yes("seg_1"));
    expect(refinements.lastJudgment([skipped("seg_2")])).toBeUndefined();
    expect(addJudgment(refinement, "seg_3", false)).toEqual([
      yes("seg_1"),
      skipped("seg_2"),
      no("seg_3"),
    ]);
  });

  it("leaves out at most 80 segments that were passed over, the latest", () => {
    const ids = Array.from({ length: refinements.MAX_SKIPPED + 1 }, (_, i) => `seg_${i}`);
    expect(refinements.addSkipped([], ids)).toEqual(ids.slice(1).map(skipped));
    expect(readRefinement(ids.map((id) => `~${id}`).join(","))).toHaveLength(80);
  });

  it("is absent from searches by a file, and without anything to search for", () => {
    expect(readRefinement("seg_1", "similar")).toEqual([yes("seg_1")]);
    for (const kind of ["image", "clip", "range"]) {
      expect(readRefinement("seg_1", kind)).toEqual([]);
    }
    const hash = routeHash({ index: "holidays", query: "", refined: "seg_1" });
    expect(hash).toBe("#/holidays");
  });
});

it.each([
  ["+", {}, true],
  ["+", { shiftKey: true }, true],
  ["-", {}, false],
  ["−", {}, false],
  ["+", { ctrlKey: true }, null],
  ["-", { metaKey: true }, null],
  ["-", { target: { tagName: "INPUT" } }, null],
  ["j", {}, null],
  ["toString", {}, null],
])("The key %s with %j judges %s", (key, event, isRelevant) => {
  expect(judgmentOfKey({ key, target: { tagName: "BUTTON" }, ...event })).toBe(isRelevant);
});

describe("the wording of the quality of an index", () => {
  it.each([
    ["own", undefined, /fitted to its judgments\.$/],
    ["fitted", undefined, /fitted to its models\. .*once 50 or more/],
    ["fitted", "automatic", /once 50 or more/],
    ["fitted", "general", /is turned off\.$/],
    ["borrowed", "general", /aren't exact\. .*is turned off\.$/],
  ])("says of the calibration %s with the setting %s what is in use", (state, setting, text) => {
    expect(wording.calibrationText(state, setting)).toMatch(text);
  });

  it("has a row for each threshold, without figures where no score is as high", () => {
    const precision = [
      { threshold: 0.7, judgments: 1200, precision: 0.745, low: 0.614, high: 0.839 },
      { threshold: 0.9, judgments: 0, precision: null, low: null, high: null },
    ];
    expect(wording.precisionRows(precision)).toEqual([
      ["from 70 %", "1,200", "75 %", "61–84 %"],
      ["from 90 %", "0", "–", "–"],
    ]);
  });

  it("has the points of the diagram as rows, and as CSV with all digits", () => {
    const bins = [{ judgments: 12, predicted: 0.553, observed: 7 / 12, low: 0.4, high: 0.7 }];
    expect(wording.pointRows(bins)).toEqual([["55 %", "12", "58 %", "40–70 %"]]);
    expect(wording.formatPoints(bins)).toBe(
      `judgments,predicted,observed,low,high\r\n12,0.553,${7 / 12},0.4,0.7\r\n`,
    );
  });

  it("has the calibration error with its interval, and nDCG@10 if a query has a relevant moment", () => {
    const error = { value: 0.07, low: 0.02, high: 0.11 };
    const ndcg = { value: 0.861, queries: 9 };
    expect(wording.summaryFacts({ calibration_error: error, ndcg_at_10: ndcg })).toEqual([
      ["Calibration error", "7 % (2–11 %)"],
      ["nDCG@10", "0.86 (9 queries)"],
    ]);
    expect(wording.summaryFacts({ calibration_error: error, ndcg_at_10: null })[1]).toEqual([
      "nDCG@10",
      "–",
    ]);
  });

  it.each([
    [0, "There are 0 so far."],
    [1, "There is 1 so far."],
  ])("of %i judgments says how many figures need", (judgments, text) => {
    expect(wording.requirementText(judgments)).toBe(
      `Figures need 30 judgments of moments that a search finds. ${text}`,
    );
  });
});
