import { describe, expect, it } from "vitest";

interface Judged {
  id: string;
  isRelevant: boolean | null;
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
interface Routes {
  readRoute: (hash: string) => Route;
  routeHash: (route: object) => string;
}

const load = (name: string) =>
  import(new URL(`../../../console/console/${name}.js`, import.meta.url).href);
const refinements = (await load("judgments/refinement")) as Refinements;
const { addJudgment, MAX_REFINING, refinementFields, refinementText } = refinements;
const { judgmentOfKey } = (await load("judgments/judging-keys")) as Keys;
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
