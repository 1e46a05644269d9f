import { expect, it } from "vitest";

interface Scope {
  id: string;
  name: string;
  start: number;
  end: number | null;
}

interface View {
  state: string;
  type: string;
  text: string;
  order: string;
}

interface Route {
  page: string;
  index: string;
  asset: string;
  query: string;
  question: string;
  fromImages: boolean;
  scope: Scope | null;
  view: View;
}

/** The functions under test; the console is plain JavaScript without types. */
interface Routes {
  readRoute: (hash: string) => Route;
  routeHash: (route: Partial<Route> & { index: string }) => string;
}

const file = new URL("../../../console/console/shared/route.js", import.meta.url).href;
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
  ["#/holidays/quality", "quality", "holidays"],
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

it.each<[Partial<Scope>, string]>([
  [{ id: "vid_1" }, "in=vid_1"],
  [{ id: "vid_1", name: "a & b", start: 1.5, end: 9 }, "in=vid_1&title-in=a+%26+b&part=1.5-9"],
  [{ id: "vid_1", start: 5 }, "in=vid_1&part=5-"],
])("The scope %j is %s in the hash of a library, a search and a question", (changes, params) => {
  const scope = { id: "", name: "", start: 0, end: null, ...changes };
  const states = [{}, { query: "boat" }, { question: "Why?", fromImages: true }];
  for (const state of states) {
    const hash = routeHash({ index: "holidays", scope, ...state });
    expect(hash.endsWith(params)).toBe(true);
    expect(readRoute(hash)).toMatchObject({ ...state, scope });
  }
});

it.each(["part=9-5", "part=x", "part=-3", "part=5-5"])(
  "The invalid part %s of a scope counts as absent",
  (part) => {
    const whole = { id: "vid_1", name: "", start: 0, end: null };
    expect(readRoute(`#/holidays?in=vid_1&${part}`).scope).toEqual(whole);
  },
);
