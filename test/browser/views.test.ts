import { describe, expect, it } from "vitest";
import { findProblems } from "./page-check.ts";
import { VIEWS } from "./views.ts";

describe.for(Object.entries(VIEWS))("%s", ([, open]) => {
  it("has no finding of axe-core, nothing outside its card and no error", async () => {
    expect(await findProblems(await open())).toEqual([]);
  });
});
