import { describe, expect, it } from "vitest";
import { formatGroupCursor, parseGroupCursor } from "../../../src/routes/group-cursor.ts";

const POSITION = Buffer.from("after:2:1764000000000:100:0.5:seg_1,seg_2:0123-_ab").toString(
  "base64url",
);

describe("the cursor of a search over several indices", () => {
  it.each([[["abcdefgh"]], [["abcdefgh", "-_345678"]], [Array(20).fill("abcdefgh")]])(
    "names the indices with the tags %j",
    (tags: string[]) => {
      expect(parseGroupCursor(formatGroupCursor(POSITION, tags))).toEqual({
        position: POSITION,
        tags,
      });
    },
  );

  it.each([
    ["absent", undefined],
    ["empty", ""],
    ["that of one index", POSITION],
    ["without a position", ".abcdefgh"],
    ["with a short tag", `${POSITION}.abc`],
    ["with a tag of other characters", `${POSITION}.abcdefg!`],
    ["with too many tags", formatGroupCursor(POSITION, Array(21).fill("abcdefgh"))],
    ["with something else as its position", "YWJj.abcdefgh"],
  ])("that is %s is none", (_, cursor) => {
    expect(parseGroupCursor(cursor)).toBeNull();
  });
});
