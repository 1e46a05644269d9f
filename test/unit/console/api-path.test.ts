import { describe, expect, it } from "vitest";

interface Target {
  path: string[];
  query: Record<string, string>;
}

interface Paths {
  apiPath: (segments: string[], query?: Record<string, string>) => Target;
  indexPath: (name: string, segments?: string[], query?: Record<string, string>) => Target;
}

/** The functions under test; the console is plain JavaScript without types. */
const load = (file: string): Promise<unknown> =>
  import(/* @vite-ignore */ new URL(`../../../console/console/${file}`, import.meta.url).href);

const { apiPath, indexPath } = (await load("shared/api-path.js")) as Paths;
const { readRoute } = (await load("shared/route.js")) as {
  readRoute: (hash: string) => { index: string };
};

describe("a path in the console", () => {
  it.each(["", ".", "..", "\ud800"])("is refused with the segment %j", (segment) => {
    expect(() => apiPath(["jobs", segment])).toThrow("There is nothing named");
    expect(() => indexPath(segment)).toThrow("There is nothing named");
    expect(() => indexPath("a", ["video", segment])).toThrow("There is nothing named");
  });

  it("has its segments and its query apart", () => {
    expect(apiPath(["index"], { limit: "1" })).toEqual({ path: ["index"], query: { limit: "1" } });
    expect(indexPath("a", ["video", "../.."])).toEqual({
      path: ["index", "a", "video", "../.."],
      query: {},
    });
  });
});

it.each(["#/..", "#/.?asset=vid_1", "#/../settings", "#/"])(
  "the address %s names no index",
  (hash) => {
    expect(readRoute(hash)).toMatchObject({ index: "", page: "indices" });
  },
);
