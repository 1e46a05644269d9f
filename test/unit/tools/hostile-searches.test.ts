import { expect, it } from "vitest";
import { SEARCH_FUNCTIONS } from "../../../tools/hostile-text/functions.ts";
import { findGrowth } from "./hostile-growths.ts";

// Half of the time of all hostile texts: a file of its own runs beside the other.
it.each(SEARCH_FUNCTIONS)("$name takes time in proportion to a hostile text", (tested) => {
  expect(findGrowth(tested)).toBeNull();
});
