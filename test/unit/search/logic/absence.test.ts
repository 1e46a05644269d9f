import { describe, expect, it } from "vitest";
import type { AssetId, SegmentId } from "../../../../src/ids.ts";
import {
  type ConditionScore,
  correctPresences,
  examinedKinds,
  isExamined,
  judgeOf,
  type LogicCondition,
  toConditionEvidence,
} from "../../../../src/search/logic/conditions.ts";
import { compileQuery } from "../../../../src/search/query.ts";
import { toSearchScope, makeSearchRequest } from "../../../../src/search/request.ts";
import type { FtsColumn } from "../../../../src/store/index-database/fulltext.ts";
import type { Segment } from "../../../../src/types.ts";

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
type Fields = Partial<Segment>;
/** Makes a scored segment with other fields than an image that nobody has described. */
const scored = (fields: Fields, score = 0.02, signals = {}) =>
  ({ segment: { ...EMPTY, ...fields }, signals, score }) as unknown as ConditionScore;
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
    const signals = hasVector ? { image_similarity: 0.1 } : {};
    expect(examinedKinds(scored(fields, 0, signals), columns)).toEqual(kinds);
  });

  it.each<[string, Fields, FtsColumn[], boolean, boolean]>([
    ["speech beside an unseen image is not", { transcript: "a" }, ALL, true, false],
    ["a described image is", { described: true }, ALL, false, true],
    ["an image with a caption is", { caption: "A dog." }, ALL, false, true],
    ["speech is where only speech is in scope", { transcript: "a" }, ["transcript"], false, true],
    ["silence is in an asset with speech", {}, ["transcript"], true, true],
    ["silence is not in an asset without speech", {}, ["transcript"], false, false],
    ["speech without a keyframe is", { hasKeyframe: false, transcript: "a" }, ALL, false, true],
    ["nothing is not", { hasKeyframe: false }, ALL, false, false],
  ])("are enough: %s", (_, fields, columns, isTranscribed, expected) => {
    expect(isExamined(scored(fields), columns, isTranscribed)).toBe(expected);
  });
});

describe("The probability that a segment has a thing", () => {
  const query = compileQuery("dog");
  const correct = (presences: ConditionScore[], { columns } = scope, wanted = query) => {
    const all = presences.map((one, i) => {
      return { ...one, segment: { ...one.segment, segmentId: `seg_${i}` as SegmentId } };
    });
    return [...correctPresences(all, wanted, columns).values()];
  };
  const named = { label_coverage: 1 };

  it("stays as it is where no detector names such a thing", () => {
    expect(correct([scored({ described: true }, 0.2)])).toEqual([0.2]);
  });

  it("is lower where a detector has described the image and only named it elsewhere", () => {
    const boxes = [boxOf("dog", 0.5)];
    const [missing, found] = correct([
      scored({ described: true }, 0.2),
      scored({ described: true, boxes }, 0.6, named),
    ]);
    expect(missing).toBeCloseTo(1 / 9, 6);
    expect(found).toBe(0.6);
  });

  it("is at least that of the detector's box", () => {
    const boxes = [boxOf("dog", 0.9)];
    expect(correct([scored({ described: true, boxes }, 0.6, named)])).toEqual([0.9]);
  });

  it("is that of a box only if its label has all words of the thing", () => {
    const boxes = [boxOf("dog", 0.9)];
    const half = scored({ described: true, boxes }, 0.3, { label_coverage: 0.5 });
    expect(correct([half], scope, compileQuery("red dog"))).toEqual([0.3]);
  });

  it("is about that of the others where nothing was examined, and even with nothing to compare", () => {
    const others = [scored({ described: true }, 0.8), scored({ described: true }, 0.9)];
    const [, , unknown] = correct([...others, scored({}, 0.01)]);
    expect(unknown).toBeCloseTo((0.8 + 0.9 + 0.5) / 3, 6);
    expect(correct([scored({}, 0.01)])).toEqual([0.5]);
  });

  it("of speech doesn't depend on labels", () => {
    const segments = [
      scored({ described: true, transcript: "a" }, 0.2),
      scored({ described: true, transcript: "a" }, 0.6, named),
    ];
    expect(correct(segments, spoken)).toEqual([0.2, 0.6]);
  });
});

describe("The evidence of absence", () => {
  it("lists what speaks for presence, and a score of 0 for each other kind that was examined", () => {
    const channelHits = [{ evidence: { kind: "visual", score: 0.2 } }];
    const basis = {
      ...scored({ described: true, transcript: "a" }),
      channelHits,
      fieldMatches: [],
    };
    const condition = { kind: "none", scope, pass: { query: compileQuery("dog") } };
    const evidence = toConditionEvidence(condition as unknown as LogicCondition, {
      score: 0.5,
      basis: basis as unknown as ConditionScore,
    });
    expect(evidence).toEqual([
      { kind: "visual", score: 0.2 },
      { kind: "speech", score: 0 },
    ]);
  });
});

describe("Silence", () => {
  const assetId = "vid_1" as AssetId;
  const scoreOf = (id: string, transcript: string, score: number) =>
    ({
      segment: { ...EMPTY, hasKeyframe: false, segmentId: id, assetId, transcript },
      signals: {},
      score,
    }) as unknown as ConditionScore;
  const condition = {
    kind: "none",
    scope: spoken,
    pass: { query: compileQuery("trumpet"), models: { text: [], visual: null } },
  } as unknown as LogicCondition;

  it("in an asset with a transcript has no word in it", () => {
    const scores = [scoreOf("a", "a walrus", 0.02), scoreOf("b", "", 0.02), scoreOf("c", "", 0.02)];
    const byId = new Map(scores.map((score) => [score.segment.segmentId, score]));
    const judge = judgeOf(condition, byId);
    expect(judge([...byId.keys()]).score).toBeGreaterThan(0.9);
  });

  it("in an asset without one says nothing", () => {
    const scores = [scoreOf("a", "", 0.02), scoreOf("b", "", 0.02)];
    const byId = new Map(scores.map((score) => [score.segment.segmentId, score]));
    expect(judgeOf(condition, byId)([...byId.keys()]).score).toBeLessThan(0.6);
  });
});
