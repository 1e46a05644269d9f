import { readFileSync } from "node:fs";
import type { Fact, Facts } from "./facts.ts";

/**
 * Reads statements with questions about them. Blocks of lines, parted by an empty line:
 * `statement`, `key` (words that a right answer contains, parted by `;`), `same` (a question in its
 * words), `other` (questions in other words), `miss` (what it nearly answers), `none` (what nothing
 * answers).
 */
export function readStatements(path: URL): Facts {
  const facts: Facts = { stated: [], unanswered: [] };
  for (const block of readFileSync(path, "utf8")
    .trim()
    .split(/\n\s*\n/)) {
    const fact: Fact = { sentence: "", questions: [], keys: [] };
    for (const line of block.split("\n")) {
      const colon = line.indexOf(": ");
      const [name, value] = [line.slice(0, colon), line.slice(colon + 2).trim()];
      if (name === "statement") fact.sentence = value;
      else if (name === "key") fact.keys = value.split(/;\s*|\s+/);
      else if (name === "same") fact.questions.push({ wording: "near", question: value });
      else if (name === "other") fact.questions.push({ wording: "far", question: value });
      else if (name === "miss") {
        facts.unanswered.push({ wording: "near", question: value, missing: "property" });
      } else if (name === "none") {
        facts.unanswered.push({ wording: "far", question: value, missing: "entity" });
      } else if (name !== "kind") throw new Error(`${path.pathname}: unknown line "${line}".`);
    }
    facts.stated.push(fact);
  }
  return facts;
}
