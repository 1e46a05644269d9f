import { describe, expect, it } from "vitest";
import { judgeHits } from "../../tools/calibration/collect-examples.ts";
import type { GroundTruth } from "../../tools/calibration/judgments.ts";
import { objectNames, type Presence, presenceOf } from "../../tools/calibration/object-names.ts";
import { createJudge } from "../../tools/calibration/questions.ts";
import { createArchiveJudge, makeArchive } from "../../tools/calibration/sized-archive.ts";
import { createRandom } from "../../tools/random-numbers.ts";

const dog: GroundTruth = {
  file: "dog.jpg",
  at: null,
  captions: ["A brown dog runs on sand.", "The dog is running by the sea."],
};
const boat: GroundTruth = { file: "video.mp4", at: 7.5, captions: ["Two boats on the sea."] };

describe("the relevance judge", () => {
  const judge = createJudge([dog, boat]);
  it.each<[string, string, GroundTruth[]]>([
    ["boat", "", [boat]],
    ["the sea", "", [dog, boat]],
    ["brown dogs run", "", [dog]],
    ["a dog on a boat", "", []],
    ["dog mustard", dog.captions[0]!, [dog]],
    ["an animal by the sea", "", [dog]],
    ["vehicle", "", [boat]],
  ])(
    "accepts every item whose captions contain “%s”, or kinds of it",
    (text, caption, relevant) => {
      const judged = judge({ text, caption, form: "words", isPresent: true });
      expect(judged).toEqual({ relevant, unknown: [] });
    },
  );

  it("leaves open whether a dog is a brown puppy, and denies that it's a black one", () => {
    const question = { caption: "", form: "words", isPresent: true } as const;
    expect(judge({ ...question, text: "brown puppy" })).toEqual({ relevant: [], unknown: [dog] });
    expect(judge({ ...question, text: "black puppy" })).toEqual({ relevant: [], unknown: [] });
  });
});

describe("the names of objects", () => {
  const names = objectNames();
  it.each<[string, string, Presence]>([
    ["person", "Two men with puppies", "present"],
    ["people", "A skier", "present"],
    ["person", "The kids watch", "present"],
    ["person", "A crowd", "present"],
    ["child", "A girl", "present"],
    ["dog", "A german shepherd", "present"],
    ["dog", "A puppy", "present"],
    ["cat", "Kittens", "present"],
    ["couch", "A sofa", "present"],
    ["sofa", "A couch", "present"],
    ["vehicle", "A truck", "present"],
    ["animal", "Horses", "present"],
    ["bicycle", "A bike", "present"],
    ["bike", "A bicycle", "present"],
    ["boat", "Canoes", "present"],
    ["bird", "Ducks fly", "present"],
    ["man", "A person runs", "unknown"],
    ["boy", "A child", "unknown"],
    ["puppy", "Dogs", "unknown"],
    ["car", "A vehicle", "unknown"],
    ["person", "A german shepherd", "absent"],
    ["person", "A hot dog", "absent"],
    ["dog", "A hot dog", "absent"],
    ["person", "White snow", "absent"],
    ["person", "They have a ball", "absent"],
    ["woman", "A man", "absent"],
    ["dish", "A plate", "absent"],
    ["snow", "A mountain", "absent"],
  ])("“%s” and a caption “%s”: %s", (word, caption, presence) => {
    expect(presenceOf(names.readWord(word), names.readObjects([caption]))).toBe(presence);
  });
});

it("a hit is relevant if the described moment lies in its range", () => {
  const hit = { ...EMPTY_HIT, title: "video.mp4", signals: {}, score: 0.5 };
  const at = (start: number, end: number) => ({ ...hit, start_seconds: start, end_seconds: end });
  const hits = [at(0, 5), at(5, 10)];
  const { hits: judged, relevantCount } = judgeHits(hits, { relevant: [boat], unknown: [] });
  expect(judged.map(({ isRight }) => isRight)).toEqual([false, true]);
  expect(relevantCount).toBe(1);
  const open = judgeHits(hits, { relevant: [], unknown: [boat] });
  expect(open.hits.map(({ isRight }) => isRight)).toEqual([false]);
});

const EMPTY_HIT = {
  asset_id: "",
  caption: "",
  transcript: "",
  on_screen_text: "",
  labels: [],
  clip_url: "",
  evidence: [],
};

describe("an archive with labels", () => {
  const captions = [dog.captions, boat.captions];
  const labels = [["dog", "dog", "person"], ["boat"]];
  const photos = {
    captions: captions.map((own) => [...own, ...own, ...own]),
    labelsOf: (photo: number) => labels[photo]!,
    targets: [0, 1],
    others: [0, 1],
    absent: [],
  };

  it("of images has them, and a caption that lists them", () => {
    const segments = makeArchive(photos, 2, "labelled images", createRandom(1));
    const own = segments.toSorted((a, b) => a.image! - b.image!);
    expect(own).toMatchObject([
      { image: 0, caption: "Two dogs and a person.", labels: labels[0], transcript: "" },
      { image: 1, caption: "A boat.", labels: labels[1], transcript: "" },
    ]);
  });

  it("has none beside a caption that somebody wrote, nor without a detector", () => {
    const mixed = makeArchive(photos, 200, "labelled mixed", createRandom(1));
    const written = mixed.filter(({ image, caption }) => captions[image!]!.includes(caption));
    expect(written.length).toBeGreaterThan(50);
    expect(written.every((segment) => segment.labels!.length === 0)).toBe(true);
    const others = mixed.filter((segment) => !written.includes(segment));
    expect(others.every((segment) => segment.labels!.length > 0)).toBe(true);
    const plain = makeArchive(photos, 200, "mixed", createRandom(1));
    expect(plain.every((segment) => segment.labels!.length === 0)).toBe(true);
  });

  it("is judged by what people wrote of its photos", () => {
    const segments = makeArchive(photos, 2, "labelled images", createRandom(1));
    const [dogId, boatId] = [0, 1].map(
      (photo) => segments.find(({ image }) => image === photo)!.segmentId,
    );
    const judge = createArchiveJudge(photos.captions, segments);
    const ids = (text: string, photo: number | null) => {
      const { relevantIds, unknownIds } = judge({ text, photo });
      return [[...relevantIds], [...unknownIds]];
    };
    expect(ids("animal", null)).toEqual([[dogId], []]);
    expect(ids("puppy", null)).toEqual([[], [dogId]]);
    expect(ids("person", 1)).toEqual([[boatId], []]);
  });
});
