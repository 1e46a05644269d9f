import { expect, it } from "vitest";
import { overlapLeads, similarityLeads } from "../../../local/engine/quotes/quote-model.ts";

it.each<[similarities: number[], leads: number[]]>([
  [
    [0.75, 0.5, 0.25],
    [0.25, -0.25, -0.5],
  ],
  [
    [0.5, 0.5],
    [0, 0],
  ],
  [[0.75], [0.55]],
  [[], []],
])("the cosines %j lead the others by %j", (similarities, leads) => {
  expect(similarityLeads(similarities).map((lead) => Number(lead.toFixed(2)))).toEqual(leads);
});

it("a sentence leads by the words that few others have", () => {
  const sentences = ["A dog and a skateboard.", "A dog and a cup.", "Three boats."];
  const [skateboard, cup, boats] = overlapLeads("Which dog is on the skateboard?", sentences);
  expect(skateboard).toBeGreaterThan(0.3);
  expect(cup).toBeLessThan(0);
  expect(boats).toBeLessThan(cup!);
});

it("no sentence leads if none shares a word", () => {
  expect(overlapLeads("Who sings?", ["Three boats.", "A cup."])).toEqual([0, 0]);
});
