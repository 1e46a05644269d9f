import type { Sources } from "./check-layers.ts";

const CONSTANT = String.raw`\{\s*\}|undefined|null|true|false|0|""|''|\[\]`;
/** A handler without a name that ignores every error of a promise. */
const SILENT_HANDLER = new RegExp(
  String.raw`\.catch\(\s*(?:async\s*)?\(\w*\)\s*=>\s*(?:void 0|${CONSTANT})\s*,?\s*\)`,
  "g",
);
/** A block that ignores every error, and doesn't say why. */
const SILENT_BLOCK = /\bcatch\s*(?:\(\w+\)\s*)?\{\s*\}/g;

/** Returns a sentence for each error that is ignored without a name or a reason. */
export function findSilentCatches(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [file, text] of sources) {
    for (const pattern of [SILENT_HANDLER, SILENT_BLOCK]) {
      for (const { index } of text.matchAll(pattern)) {
        const line = text.slice(0, index).split("\n").length;
        problems.push(`${file}:${line} ignores an error: name which one, as in ignored-errors.ts`);
      }
    }
  }
  return problems;
}
