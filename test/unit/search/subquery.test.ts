import { describe, expect, it } from "vitest";
import { type Mode, subqueryModes } from "../../../src/search/request.ts";

describe("the modes of a subquery", () => {
  it.each<[Mode[], Mode[], Mode[]]>([
    [[], [], []],
    [["speech"], [], ["speech"]],
    [["video", "text"], [], ["video", "text"]],
    [[], ["video", "speech"], ["video", "speech"]],
    [["visual"], ["video", "speech"], ["video", "visual"]],
    [["image"], ["video", "speech"], ["image", "speech"]],
    [["audio"], ["video", "speech"], ["audio", "speech"]],
  ])("%j in a search with %j are %j", (own, shared, expected) => {
    expect(subqueryModes(own, shared)).toEqual(expected);
  });
});
