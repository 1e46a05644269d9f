import { expect, it } from "vitest";

interface View {
  state: string;
  type: string;
  text: string;
  order: string;
}

interface Route {
  page: string;
  index: string;
  query: string;
  view: View;
}

/** The functions under test; the console is plain JavaScript without types. */
interface Routes {
  readRoute: (hash: string) => Route;
  routeHash: (route: Partial<Route> & { index: string }) => string;
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

const WHOLE: View = { state: "", type: "", text: "", order: "oldest" };

it.each<[Partial<View>, string]>([
  [{}, "#/holidays"],
  [{ state: "failed", order: "newest" }, "#/holidays?state=failed&order=newest"],
  [{ type: "image", text: "a & b" }, "#/holidays?title=a+%26+b&type=image"],
])("The view %j of a library has the hash %s, from which it is read", (changes, hash) => {
  const view = { ...WHOLE, ...changes };
  expect(routeHash({ index: "holidays", view })).toBe(hash);
  expect(readRoute(hash).view).toEqual(view);
});

it("Invalid values of a view in the hash count as absent, and a search has no view", () => {
  expect(readRoute("#/holidays?state=lost&type=sound&order=compare").view).toEqual(WHOLE);
  const view = { ...WHOLE, state: "failed" };
  expect(routeHash({ index: "holidays", query: "boat", view })).toBe("#/holidays?q=boat");
});
