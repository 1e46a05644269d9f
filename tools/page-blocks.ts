import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "./stack/local-state.ts";

export interface PageBlock {
  /** Page and line, for messages. */
  at: string;
  /** Language of the fence: `sh`, `ts`, `python`, … `console` marks what a test doesn't run. */
  language: string;
  code: string;
  /** The `text` block that follows the code: what it prints. */
  output: string | undefined;
}

const BLOCK = /^```(\w+)\n([\s\S]*?)^```\n/gm;

/** Returns the code blocks of a page in `docs/`, each with the output that the page shows. */
export function readPageBlocks(page: string): PageBlock[] {
  const text = readFileSync(join(PROJECT, "docs", page), "utf8");
  const blocks: PageBlock[] = [];
  let end = 0;
  for (const match of text.matchAll(BLOCK)) {
    const [, language = "", code = ""] = match;
    const previous = blocks.at(-1);
    const isNext = text.slice(end, match.index).trim() === "";
    if (language === "text" && previous && isNext) previous.output = code;
    else {
      const line = text.slice(0, match.index).split("\n").length;
      blocks.push({ at: `docs/${page}:${line}`, language, code, output: undefined });
    }
    end = match.index + match[0].length;
  }
  return blocks;
}

/**
 * Returns whether the output is what the page shows. `…` stands for any text. Decimals, ids and
 * signed tokens may differ.
 */
export function matchesOutput(shown: string, output: string): boolean {
  const pattern = generalize(shown)
    .trim()
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("…", "[^]*?");
  return new RegExp(`^${pattern}$`).test(generalize(output).trim());
}

function generalize(text: string): string {
  return text
    .replaceAll(/\b(vid|img|seg|job|key|src|upl|evt|acc)_(?:[0-9A-Z_]{26,}|…)/g, "$1_ID")
    .replaceAll(/\d+\.\d+/g, "DECIMAL")
    .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, "ORIGIN");
}
