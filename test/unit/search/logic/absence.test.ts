import { describe, expect, it } from "vitest";
import {
  absenceEvidence,
  correctPresences,
  examinedKinds,
  isExamined,
  type Presence,
} from "../../../../src/search/logic/absence.ts";
import { compileQuery } from "../../../../src/search/query.ts";
import { toSearchScope, makeSearchRequest } from "../../../../src/search/request.ts";
import type { FtsColumn } from "../../../../src/store/index-database/fulltext.ts";

const ALL: FtsColumn[] = ["caption", "transcript", "on_screen_text", "labels"];
const scope = toSearchScope(makeSearchRequest({ topK: 1 }));
const spoken = toSearchScope(makeSearchRequest({ topK: 1, modes: ["speech"] }));

const EMPTY = {
  caption: "",
  captionModel: null,
  transcript: "",
  onScreenText: "",
  described: false,
  error: null,
  hasKeyframe: true,
  boxes: [],
};
type Fields = Partial<Presence["segment"]>;
const segmentWith = (fields: Fields): Presence["segment"] => ({ ...EMPTY, ...fields });
const boxOf = (label: string, score: number) => ({ label, score, x: 0, y: 0, width: 1, height: 1 });

describe("The kinds of evidence that were examined", () => {
  it.each<[string, Fields, FtsColumn[], boolean, string[]]>([
    ["of nothing are none", {}, ALL, false, []],
    ["of a described image are visual", { described: true }, ALL, false, ["visual"]],
    ["of an image vector are visual", {}, ALL, true, ["visual"]],
    [
      "of a description that failed are none",
      { described: true, error: { code: "internal", message: "" } },
      ALL,
      false,
      [],
    ],
    [
      "of a template caption are visual alone",
      { described: true, caption: "A dog.", captionModel: "template" },
      ALL,
      false,
      ["visual"],
    ],
    [
      "of all texts are all",
      { described: true, caption: "A dog.", captionModel: "m", transcript: "a", onScreenText: "b" },
      ALL,
      true,
      ["caption", "speech", "text", "visual"],
    ],
    [
      "are those of the columns in scope",
      { described: true, transcript: "a" },
      ["transcript"],
      true,
      ["speech"],
    ],
  ])("%s", (_, fields, columns, hasVector, kinds) => {
    expect(examinedKinds(segmentWith(fields), columns, hasVector)).toEqual(kinds);
  });

  it.each<[boolean, Parameters<typeof isExamined>[1], FtsColumn[], boolean]>([
    [true, ["speech"], ALL, false],
    [true, ["visual"], ALL, true],
    [true, ["caption"], ALL, true],
    [true, ["speech"], ["transcript"], true],
    [true, [], ["transcript"], false],
    [false, ["speech"], ALL, true],
    [false, [], ALL, false],
  ])(
    "of a segment with a keyframe (%s) and %j among %j are enough: %s",
    (hasKeyframe, kinds, columns, expected) => {
      expect(isExamined({ hasKeyframe }, kinds, columns)).toBe(expected);
    },
  );
});

describe("The probability that a segment has a thing", () => {
  const query = compileQuery("dog");
  const presence = (fields: Fields, probability: number, signals = {}): Presence => ({
    segment: segmentWith(fields),
    probability,
    signals,
    isExamined: fields.described === true || (fields.transcript ?? "") !== "",
  });
  const named = { label_coverage: 1 };

  it("stays as it is where no detector names such a thing", () => {
    expect(correctPresences([presence({ described: true }, 0.2)], query, scope)).toEqual([0.2]);
  });

  it("is lower where a detector has described the image and only named it elsewhere", () => {
    const boxes = [boxOf("dog", 0.5)];
    const [missing, found] = correctPresences(
      [presence({ described: true }, 0.2), presence({ described: true, boxes }, 0.6, named)],
      query,
      scope,
    );
    expect(missing).toBeCloseTo(1 / 9, 6);
    expect(found).toBe(0.6);
  });

  it("is at least that of the detector's box", () => {
    const boxes = [boxOf("dog", 0.9)];
    expect(
      correctPresences([presence({ described: true, boxes }, 0.6, named)], query, scope),
    ).toEqual([0.9]);
  });

  it("is that of a box only if its label has all words of the thing", () => {
    const boxes = [boxOf("dog", 0.9)];
    const half = presence({ described: true, boxes }, 0.3, { label_coverage: 0.5 });
    expect(correctPresences([half], compileQuery("red dog"), scope)).toEqual([0.3]);
  });

  it("is about that of the others where nothing was examined, and even with nothing to compare", () => {
    const others = [presence({ described: true }, 0.8), presence({ described: true }, 0.9)];
    const [, , unknown] = correctPresences([...others, presence({}, 0.01)], query, scope);
    expect(unknown).toBeCloseTo((0.8 + 0.9 + 0.5) / 3, 6);
    expect(correctPresences([presence({}, 0.01)], query, scope)).toEqual([0.5]);
  });

  it("of speech doesn't depend on labels", () => {
    const segments = [
      presence({ described: true, transcript: "a" }, 0.2),
      presence({ described: true, transcript: "a" }, 0.6, named),
    ];
    expect(correctPresences(segments, query, spoken)).toEqual([0.2, 0.6]);
  });
});

describe("The evidence of absence", () => {
  it("lists what speaks for presence, and a score of 0 for each other kind that was examined", () => {
    const found = { kind: "visual" as const, score: 0.2 };
    expect(absenceEvidence([found], ["speech", "visual"])).toEqual([
      found,
      { kind: "speech", score: 0 },
    ]);
    expect(absenceEvidence([], [])).toEqual([]);
  });
});
