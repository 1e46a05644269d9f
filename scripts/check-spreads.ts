import { type Node, parseSync, Visitor } from "oxc-parser";
import type { Sources } from "./check-layers.ts";

/** Functions that take any number of arguments, into which lists are spread. */
const VARIADIC = /^(?:Math\.(?:max|min)|.+\.(?:push|unshift|concat))$/s;

/**
 * Returns a sentence for each list that is spread into a call, which fails for a long one:
 * `src/lists.ts` has functions that don't.
 */
export function findSpreads(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    const found: string[] = [];
    const textOf = ({ start, end }: Node) => text.slice(start, end);
    new Visitor({
      CallExpression({ callee, arguments: given, start }) {
        const isSpread = given.some(({ type }) => type === "SpreadElement");
        if (!isSpread || !VARIADIC.test(textOf(callee))) return;
        const line = text.slice(0, start).split("\n").length;
        found.push(`${file}:${line} spreads a list into a call of any length: use lists.ts`);
      },
    }).visit(parseSync(file, text).program);
    return found;
  });
}
