import { expect, it } from "vitest";

interface Route {
  page: string;
  index: string;
  asset: string;
  query: string;
}

/** The functions under test; the console is plain JavaScript without types. */
interface Routes {
  readRoute: (hash: string) => Route;
  routeHash: (route: { index: string; page?: string; query?: string; asset?: string }) => string;
}

const file = new URL("../../console/console/route.js", import.meta.url).href;
const { readRoute, routeHash } = (await import(file)) as Routes;

it.each([
  ["", "indices", ""],
  ["#/", "indices", ""],
  ["#/stats", "stats", ""],
  ["#/keys", "keys", ""],
  ["#/jobs", "jobs", ""],
  ["#/holidays", "library", "holidays"],
  ["#/holidays/health", "health", "holidays"],
  ["#/holidays/settings", "settings", "holidays"],
  ["#/holidays/unknown", "library", "holidays"],
  ["#/holidays?q=boat", "library", "holidays"],
  ["#/stats/library?q=boat", "library", "stats"],
])("The hash %s leads to the page %s of the index “%s”", (hash, page, index) => {
  expect(readRoute(hash)).toMatchObject({ page, index });
});

it.each(["holidays", "stats", "keys", "jobs"])(
  "A link to the library, a page and a search of the index “%s” leads there",
  (index) => {
    expect(readRoute(routeHash({ index }))).toMatchObject({ index, page: "library" });
    const health = readRoute(routeHash({ index, page: "health" }));
    expect(health).toMatchObject({ index, page: "health" });
    const search = readRoute(routeHash({ index, query: "a/b?c" }));
    expect(search).toMatchObject({ index, page: "library", query: "a/b?c" });
  },
);

it("A link to a video leads to it in the library of its index", () => {
  const route = readRoute(routeHash({ index: "holidays", asset: "vid_1" }));
  expect(route).toMatchObject({ index: "holidays", page: "library", asset: "vid_1", query: "" });
  expect(readRoute("#/holidays")).toMatchObject({ asset: "" });
});
