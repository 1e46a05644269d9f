import { describe, expect, it } from "vitest";
import { inspectObjects } from "../../src/care/inspect-objects.ts";
import { inspectVectors } from "../../src/care/inspect-vectors.ts";
import type { PictureSpace } from "../../src/care/picture-space.ts";
import { MODELS } from "../../src/config.ts";
import { ours } from "../../src/ids.ts";
import type { SegmentHealth } from "../../src/store/health.ts";
import type { Asset } from "../../src/types.ts";

const TEXT = MODELS.embedText.id;
const box = { label: "bird", score: 0.9, x: 0, y: 0, width: 0.1, height: 0.1 };

const segment: SegmentHealth = {
  segmentId: ours("seg_1"),
  keyframeMs: 500,
  boxes: [box],
  caption: 1,
  speech: 0,
  text: 0,
  seen: 1,
  indexed: 1,
  signed: 1,
  unembedded: 0,
  textModel: TEXT,
  pictureModel: "looks",
};

/** A space in which these ids are, by the models that made them. */
function spaceOf(models: Record<string, string>): VectorizeIndex {
  const space: Partial<VectorizeIndex> = {
    getByIds: async (ids) =>
      ids.flatMap((id) => {
        const model = models[id];
        return model === undefined ? [] : [{ id, values: [1], metadata: { model } }];
      }),
  };
  return space as VectorizeIndex;
}

const WHOLE = { "seg_1:picture": "looks", "seg_1:region-1": "looks" };
const PRESENT: PictureSpace = { model: "looks", values: [1] };

describe("the vectors of a segment", () => {
  it.each<
    [string, Partial<SegmentHealth>, Record<string, string>, PictureSpace, Record<string, string[]>]
  >([
    ["are all there", {}, WHOLE, PRESENT, {}],
    [
      "are of the model before",
      { pictureModel: "old" },
      { "seg_1:picture": "old", "seg_1:region-1": "old" },
      PRESENT,
      { vectors_stale: ["seg_1:picture", "seg_1:region-1"] },
    ],
    [
      "are of any model, where nobody says which is right",
      {},
      { ...WHOLE, "seg_1:picture": "old" },
      "silent",
      {},
    ],
    [
      "are gone, whoever is right",
      {},
      {},
      "silent",
      { vectors_missing: ["seg_1:picture", "seg_1:region-1"] },
    ],
    ["were never made, and can't be", { pictureModel: null }, {}, "none", {}],
    ["were never made, and nobody answers", { pictureModel: null }, {}, "silent", {}],
    [
      "were never made, and can be now",
      { pictureModel: null, boxes: [] },
      {},
      PRESENT,
      { vectors_missing: ["seg_1:picture"] },
    ],
    ["are too many", { boxes: [] }, WHOLE, PRESENT, { vectors_surplus: ["seg_1:region-1"] }],
    [
      "are of a picture that can't be seen",
      { seen: 0 },
      WHOLE,
      PRESENT,
      { vectors_surplus: ["seg_1:picture", "seg_1:region-1"] },
    ],
  ])("%s", async (_, change, pictures, space, expected) => {
    const env = {
      TEXT_VECTORS: spaceOf({ "seg_1:caption": TEXT }),
      PICTURE_VECTORS: spaceOf(pictures),
    };
    const findings = await inspectVectors(env, [{ ...segment, ...change }], space);
    expect(Object.fromEntries(findings.map(({ code, about }) => [code, about]))).toEqual(expected);
  });

  it.each<[string, Partial<SegmentHealth>, Record<string, string>, Record<string, string[]>]>([
    ["of words are gone", {}, {}, { vectors_missing: ["seg_1:caption"] }],
    [
      "of words are of none",
      { caption: 0 },
      { "seg_1:caption": TEXT },
      { vectors_surplus: ["seg_1:caption"] },
    ],
    [
      "of words are another model's",
      {},
      { "seg_1:caption": "old" },
      { vectors_stale: ["seg_1:caption"] },
    ],
    [
      "are on record as another model's",
      { textModel: "old" },
      { "seg_1:caption": TEXT },
      { vectors_stale: ["seg_1:caption"] },
    ],
    [
      "are of words that were replaced",
      { speech: 1, unembedded: 1 },
      { "seg_1:caption": TEXT, "seg_1:speech": TEXT },
      { vectors_stale: ["seg_1:speech"] },
    ],
  ])("%s", async (_, change, texts, expected) => {
    const env = { TEXT_VECTORS: spaceOf(texts), PICTURE_VECTORS: spaceOf(WHOLE) };
    const findings = await inspectVectors(env, [{ ...segment, ...change }], PRESENT);
    expect(Object.fromEntries(findings.map(({ code, about }) => [code, about]))).toEqual(expected);
  });
});

describe("the objects of an asset", () => {
  const now = Date.UTC(2026, 10, 21);
  const asset = {
    accountId: "acc_1",
    indexId: "ind_1",
    assetId: "vid_1",
    sizeBytes: 9,
    durationMs: 60_000,
    hasAudio: true,
    technical: {},
    transcriptJob: "job_2",
  } as Asset;
  const object = (name: string, hoursOld = 48, size = 9) => ({
    key: `acc_1/ind_1/vid_1/${name}`,
    size,
    uploaded: new Date(now - hoursOld * 3_600_000),
  });
  const named = [
    "source",
    "keyframes/500.jpg",
    "transcripts/job_2.json",
    "heard/0.json",
    "heard/1.json",
  ];
  const whole = named.map((name) => object(name));

  it.each<[string, ReturnType<typeof object>[], string[]]>([
    ["are all there", whole, []],
    ["are not", [], ["source_missing", "keyframes_missing"]],
    ["are cut off", [object("source", 48, 4), ...whole.slice(1)], ["source_truncated"]],
    ["are left over", [...whole, object("seen/0.json")], ["objects_surplus"]],
    ["are on their way", [...whole, object("transcripts/job_3.json", 23)], []],
    ["are of an earlier transcript", [...whole, object("transcript.json")], ["objects_surplus"]],
    ["are of no segment", [...whole, object("keyframes/501.jpg")], ["objects_surplus"]],
    ["are of no piece of the sound", [...whole, object("heard/2.json")], ["objects_surplus"]],
  ])("%s", (_, objects, expected) => {
    const findings = inspectObjects(asset, [segment], objects, now);
    expect(findings.map(({ code }) => code)).toEqual(expected);
  });
});
