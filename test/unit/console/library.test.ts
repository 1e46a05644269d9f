import { expect, it } from "vitest";

interface Asset {
  asset_id: string;
  asset_type: "video" | "image";
  title: string;
  state: string;
  duration_seconds: number | null;
  size_bytes: number;
  technical?: { folder?: string };
}
interface View {
  state: string;
  type: string;
  text: string;
  order: string;
}

/** The functions under test; the console is plain JavaScript without types. */
interface AssetOrder {
  WHOLE_LIBRARY: View;
  arrangeAssets: (assets: Asset[], view: View) => Asset[];
  needsAllAssets: (view: View) => boolean;
}
interface Advice {
  adviceOf: (error: { code: string }) => string | null;
}

const load = (name: string) =>
  import(new URL(`../../../console/console/${name}.js`, import.meta.url).href);
const order = (await load("library/asset-order")) as AssetOrder;
const { WHOLE_LIBRARY, arrangeAssets, needsAllAssets } = order;
const { adviceOf } = (await load("shared/error-advice")) as Advice;

const asset = (id: string, title: string, changes: Partial<Asset> = {}): Asset => ({
  asset_id: id,
  asset_type: id.startsWith("vid_") ? "video" : "image",
  title,
  state: "ready",
  duration_seconds: null,
  size_bytes: 10,
  ...changes,
});
const LIBRARY = [
  asset("vid_2", "Harbour 10", { duration_seconds: 60, size_bytes: 500 }),
  asset("img_1", "Zürich, Café", { size_bytes: 900 }),
  asset("vid_3", "harbour 9", { duration_seconds: 90, state: "failed" }),
  asset("img_4", "東京 ＡＢＣ", { state: "embedding" }),
];

it.each([
  ["oldest", ["img_1", "vid_2", "vid_3", "img_4"]],
  ["newest", ["img_4", "vid_3", "vid_2", "img_1"]],
  ["title", ["vid_3", "vid_2", "img_1", "img_4"]],
  ["longest", ["vid_3", "vid_2", "img_1", "img_4"]],
  ["largest", ["img_1", "vid_2", "vid_3", "img_4"]],
])("The order “%s” of a library is %j", (name, ids) => {
  const arranged = arrangeAssets(LIBRARY, { ...WHOLE_LIBRARY, order: name });
  expect(arranged.map((each) => each.asset_id)).toEqual(ids);
});

it.each([
  [{ state: "ready" }, ["img_1", "vid_2"]],
  [{ state: "failed" }, ["vid_3"]],
  [{ state: "working" }, ["img_4"]],
  [{ type: "video" }, ["vid_2", "vid_3"]],
  [{ text: "HARBOUR" }, ["vid_2", "vid_3"]],
  [{ text: "cafe zurich" }, ["img_1"]],
  [{ text: "abc" }, ["img_4"]],
  [{ text: "東" }, ["img_4"]],
  [{ text: "harbour", state: "failed" }, ["vid_3"]],
  [{ text: "boat" }, []],
])("The filter %j of a library leaves %j", (filter, ids) => {
  const arranged = arrangeAssets(LIBRARY, { ...WHOLE_LIBRARY, ...filter });
  expect(arranged.map((each) => each.asset_id)).toEqual(ids);
});

it("A library in the order of the API is read page by page, any other view at once", () => {
  expect(needsAllAssets(WHOLE_LIBRARY)).toBe(false);
  expect(needsAllAssets({ ...WHOLE_LIBRARY, order: "title" })).toBe(true);
  expect(needsAllAssets({ ...WHOLE_LIBRARY, text: "boat" })).toBe(true);
});

it("A failure that may pass has the advice to try again, an unknown one has none", () => {
  expect(adviceOf({ code: "upstream_timeout" })).toMatch(/try again later/);
  expect(adviceOf({ code: "of_tomorrow" })).toBeNull();
});

it("the filter of a library finds words of a folder, alone and with words of the title", () => {
  const folder = { technical: { folder: "Familie/Kinder" } };
  const assets = [asset("img_1", "a.jpg", folder), asset("img_2", "b.jpg")];
  const idsOf = (text: string) =>
    arrangeAssets(assets, { ...WHOLE_LIBRARY, text }).map((each) => each.asset_id);
  expect(idsOf("kinder")).toEqual(["img_1"]);
  expect(idsOf("kinder a")).toEqual(["img_1"]);
  expect(idsOf("kinder b")).toEqual([]);
});
