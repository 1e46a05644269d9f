import { describe, expect, it } from "vitest";
import { type AssetId, trustedId } from "../../../src/ids.ts";
import {
  countFacets,
  groupKeysOf,
  parseGrouping,
} from "../../../src/store/index-database/groups.ts";

const segmentOf = (metadata: object, labels: string[] = [], technical: object = {}) => ({
  segment: { labels },
  asset: {
    assetId: trustedId<AssetId>("img_1"),
    assetType: "image" as const,
    metadata: metadata as never,
    technical: technical as never,
  },
});

describe("the keys of a segment", () => {
  const long = "é".repeat(250);
  it.each<[string, object, unknown[]]>([
    ["metadata.camera", { camera: "A" }, ["A"]],
    ["metadata.camera", {}, [null]],
    ["metadata.camera", { camera: null }, [null]],
    ["metadata.camera", { camera: [] }, [null]],
    ["metadata.camera", { camera: { make: "A" } }, [null]],
    ["metadata.camera.make", { camera: { make: "A" } }, ["A"]],
    ["metadata.camera.make", { "camera.make": "B" }, ["B"]],
    ["metadata.tags", { tags: ["a", "b", "a", null, { c: 1 }, ["d"]] }, ["a", "b"]],
    ["metadata.year", { year: 2024 }, [2024]],
    ["metadata.year", { year: "2024" }, ["2024"]],
    ["metadata.public", { public: false }, [false]],
    ["metadata.note", { note: "" }, [""]],
    ["metadata.note", { note: long }, [long.slice(0, 200)]],
    ["metadata.taken_at.year", { taken_at: { year: 1 } }, [1]],
    ["asset", {}, ["img_1"]],
    ["asset_type", {}, ["image"]],
    ["label", {}, [null]],
    ["taken_at.year", {}, [null]],
  ])("by %s of %j are %j", (name, metadata, keys) => {
    expect(groupKeysOf(parseGrouping(name)!, segmentOf(metadata))).toEqual(keys);
  });

  it.each([
    ["taken_at.year", "2024"],
    ["taken_at.month", "2024-06"],
    ["taken_at.day", "2024-06-01"],
    ["technical.taken_at", "2024-06-01T23:30:00.000Z"],
  ])("by %s are those of the UTC time", (name, key) => {
    const taken = segmentOf({}, [], { taken_at: "2024-06-01T23:30:00.000Z" });
    expect(groupKeysOf(parseGrouping(name)!, taken)).toEqual([key]);
  });

  it("by label are each label once", () => {
    const grouping = parseGrouping("label")!;
    expect(groupKeysOf(grouping, segmentOf({}, ["dog", "cat", "dog"]))).toEqual(["dog", "cat"]);
  });

  it.each(["", "metadata", "metadata.", "camera", "taken_at", "taken_at.hour", "labels"])(
    "can't be by %j",
    (name) => {
      expect(parseGrouping(name)).toBeNull();
    },
  );
});

describe("facets", () => {
  it("count hits by value, the most frequent first, and equal ones by key", () => {
    const hits = ["B", "A", "C", "C", null].map((camera) => segmentOf({ camera }));
    expect(countFacets(["metadata.camera", "label"], hits)).toEqual({
      "metadata.camera": [
        { key: "C", count: 2 },
        { key: "A", count: 1 },
        { key: "B", count: 1 },
        { key: null, count: 1 },
      ],
      label: [{ key: null, count: 5 }],
    });
  });

  it("are at most 20 values", () => {
    const hits = Array.from({ length: 30 }, (_, year) => segmentOf({ year }));
    expect(countFacets(["metadata.year"], hits)["metadata.year"]).toHaveLength(20);
  });
});
