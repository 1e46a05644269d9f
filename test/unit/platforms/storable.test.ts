import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/config.ts";
import { failureOf, AppError } from "../../../src/errors.ts";
import {
  readEntries,
  requireStorableCursor,
  toPlatformItem,
  toStorableListing,
} from "../../../src/platforms/platform.ts";

const LONG = "x".repeat(LIMITS.urlCharacters + 1);
const raw = {
  platformId: "1",
  assetType: "video",
  pageUrl: "https://a.example/1",
  title: "t",
  handle: {},
} as const;
const item = toPlatformItem(raw);

describe("what a platform sends is bounded before it is stored:", () => {
  it.each([
    ["id", { platformId: LONG }],
    ["URL", { pageUrl: LONG }],
    ["handle", { handle: { url: LONG + LONG } }],
  ])("an entry whose %s is too long is left out", (_, fields) => {
    const entries = [{ ...raw, ...fields }, raw];
    const read = readEntries("p", entries, (entry) => [toPlatformItem(entry as typeof raw)]);
    expect(read.values).toEqual([item]);
    expect(read.broken).toEqual([{ entry: 1, message: "Its id, URL or handle is too long." }]);
  });

  it("the texts of an item are cut", () => {
    const texts = { title: LONG, author: LONG, licence: LONG, language: `en-u-${LONG}` };
    const cut = toPlatformItem({
      ...raw,
      ...texts,
      description: LONG + LONG,
      altText: LONG + LONG,
    });
    expect(JSON.stringify(cut).length).toBeLessThan(11_500);
    expect(cut.language).toBeNull();
  });

  it("a long cursor or listing is an error", () => {
    const page = { items: [item], broken: [], next: { after: LONG } };
    expect(() => requireStorableCursor("p", page)).toThrow("too long");
    expect(() => requireStorableCursor("p", { ...page, next: null })).not.toThrow();
    const listing = { platform: "p", title: LONG, url: LONG, ref: {} };
    expect(toStorableListing(listing)).toMatchObject({ title: "x".repeat(300), url: null });
    expect(() => toStorableListing({ ...listing, ref: { a: LONG.repeat(5) } })).toThrow("too long");
  });

  it("the message of a failure is cut", () => {
    const { message } = failureOf(new AppError("upstream_failed", LONG));
    expect(message).toHaveLength(LIMITS.failureCharacters);
  });
});
