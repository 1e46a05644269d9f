import { describe, expect, it } from "vitest";
import { MODELS } from "../../../src/config.ts";
import { trustedId } from "../../../src/ids.ts";
import { inspectObjects, inspectVectors } from "../../../src/lifecycle/inspect.ts";
import type { ImageModel } from "../../../src/models/embed.ts";
import type { SegmentHealth } from "../../../src/store/health.ts";
import type { Asset } from "../../../src/types.ts";

const TEXT = MODELS.embedText.id;
const box = { label: "bird", score: 0.9, x: 0, y: 0, width: 0.1, height: 0.1 };

const segment: SegmentHealth = {
  segmentId: trustedId("seg_1"),
  keyframeMs: 500,
  boxes: [box],
  caption: 1,
  speech: 0,
  text: 0,
  described: 1,
  isFinal: 1,
  hasKeyframe: 1,
  indexed: 1,
  hasSignature: 1,
  unembedded: 0,
  textModel: TEXT,
  imageModel: "present",
  vectorsAt: 0,
};

/** A Vectorize index with these ids, each with the model of its vector. */
function vectorIndexWith(models: Record<string, string>): VectorizeIndex {
  const space: Partial<VectorizeIndex> = {
    getByIds: async (ids) =>
      ids.flatMap((id) => {
        const model = models[id];
        return model === undefined ? [] : [{ id, values: [1], metadata: { model } }];
      }),
  };
  return space as VectorizeIndex;
}

const COMPLETE = { "seg_1:image": "present", "seg_1:region-1": "present crop-2" };
const PRESENT_MODEL: ImageModel = { model: "present" };

describe("the vectors of a segment", () => {
  it.each<
    [string, Partial<SegmentHealth>, Record<string, string>, ImageModel, Record<string, string[]>]
  >([
    ["are complete", {}, COMPLETE, PRESENT_MODEL, {}],
    [
      "are of an earlier model",
      { imageModel: "old" },
      { "seg_1:image": "old", "seg_1:region-1": "old" },
      PRESENT_MODEL,
      { vectors_stale: ["seg_1:image", "seg_1:region-1"] },
    ],
    [
      "of regions are of an earlier encoder of crops",
      {},
      { ...COMPLETE, "seg_1:region-1": "present" },
      PRESENT_MODEL,
      { vectors_stale: ["seg_1:region-1"] },
    ],
    [
      "may be of any model while the present one is unknown",
      {},
      { ...COMPLETE, "seg_1:image": "old" },
      "unavailable",
      {},
    ],
    [
      "are missing while the present model is unknown",
      {},
      {},
      "unavailable",
      { vectors_missing: ["seg_1:image", "seg_1:region-1"] },
    ],
    ["were never made without a model", { imageModel: null }, {}, "none", {}],
    ["were never made while the model is unavailable", { imageModel: null }, {}, "unavailable", {}],
    [
      "were never made, and there is a model now",
      { imageModel: null, boxes: [] },
      {},
      PRESENT_MODEL,
      { vectors_missing: ["seg_1:image"] },
    ],
    [
      "are more than expected",
      { boxes: [] },
      COMPLETE,
      PRESENT_MODEL,
      { vectors_unexpected: ["seg_1:region-1"] },
    ],
    [
      "are of an undecodable frame",
      { described: 0, hasKeyframe: 0 },
      COMPLETE,
      PRESENT_MODEL,
      { vectors_unexpected: ["seg_1:image", "seg_1:region-1"] },
    ],
    ["are complete without a description", { described: 0 }, COMPLETE, PRESENT_MODEL, {}],
  ])("%s", async (_, change, imageModels, imageModel, expected) => {
    const pair = {
      text: vectorIndexWith({ "seg_1:caption": TEXT }),
      image: vectorIndexWith(imageModels),
    };
    const findings = await inspectVectors(pair, [{ ...segment, ...change }], imageModel);
    expect(Object.fromEntries(findings.map(({ code, about }) => [code, about]))).toEqual(expected);
  });

  it.each<[string, Partial<SegmentHealth>, Record<string, string>, Record<string, string[]>]>([
    ["of text are missing", {}, {}, { vectors_missing: ["seg_1:caption"] }],
    [
      "of text belong to no text",
      { caption: 0 },
      { "seg_1:caption": TEXT },
      { vectors_unexpected: ["seg_1:caption"] },
    ],
    [
      "of text are of another model",
      {},
      { "seg_1:caption": "old" },
      { vectors_stale: ["seg_1:caption"] },
    ],
    [
      "are recorded as of another model",
      { textModel: "old" },
      { "seg_1:caption": TEXT },
      { vectors_stale: ["seg_1:caption"] },
    ],
    [
      "are of a replaced transcript",
      { speech: 1, unembedded: 1 },
      { "seg_1:caption": TEXT, "seg_1:speech": TEXT },
      { vectors_stale: ["seg_1:speech"] },
    ],
  ])("%s", async (_, change, textModels, expected) => {
    const pair = {
      text: vectorIndexWith(textModels),
      image: vectorIndexWith(COMPLETE),
    };
    const findings = await inspectVectors(pair, [{ ...segment, ...change }], PRESENT_MODEL);
    expect(Object.fromEntries(findings.map(({ code, about }) => [code, about]))).toEqual(expected);
  });
});

describe("the objects of an asset", () => {
  const asset = {
    accountId: "acc_1",
    indexId: "ind_1",
    assetId: "vid_1",
    sizeBytes: 9,
    durationMs: 60_000,
    hasAudio: true,
    technical: {},
    transcriptJobId: "job_2",
  } as Asset;
  const object = (name: string, size = 9) => ({
    key: `acc_1/ind_1/vid_1/${name}`,
    size,
    uploaded: new Date(0),
  });
  const names = ["source", "keyframes/500.jpg", "transcripts/job_2.json"];
  const complete = names.map((name) => object(name));

  it.each<[string, ReturnType<typeof object>[], string[]]>([
    ["are complete", complete, []],
    ["are missing", [], ["source_missing", "keyframes_missing"]],
    [
      "include a truncated source",
      [object("source", 4), ...complete.slice(1)],
      ["source_truncated"],
    ],
  ])("%s", (_, objects, expected) => {
    const findings = inspectObjects(asset, [segment], objects);
    expect(findings.map(({ code }) => code)).toEqual(expected);
  });
});
