import type { Sources } from "./check-layers.ts";

const MAX_COLUMNS = 100;
const MAX_PROSE_COLUMNS = 120;
const MAX_CELL_CHARACTERS = 80;
const MAX_PAGES = 25;
const MAX_WORDS = 30_000;

/** A comment that opens with one of these isn't a sentence that a reader takes in at once. */
const BAD_OPENING = /^\s*(?:\/\*\*|\/\/|\/\*)\s+(?:Of|Likewise|As)\b/;
/** Phrases that aren't English, though each word is. */
const UNIDIOMATIC = /\b(?:also\sif|from\swhich\son|one\sbehind\sthe\sother)\b/i;
const COMMENT = /^\s*(?:\/\*|\*|\/\/)|\s\/\/ /;
/** Words of a line of SQL. Other long lines are the formatter's: it breaks what can be broken. */
const SQL_WORDS =
  "SELECT FROM WHERE INSERT VALUES UPDATE SET DELETE JOIN ORDER LIMIT AND CASE EXISTS";
const SQL = new RegExp(String.raw`\b(?:${SQL_WORDS.replaceAll(" ", "|")})\b`);
/** The same openings, on the first line of a block comment. */
const BLOCK_START = /^\s*\/\*\*?\s*$/;
const BAD_BLOCK_OPENING = /^\s*\*\s+(?:Of|Likewise|As)\b/;

/** Returns a sentence for each comment or line of SQL that is too long or badly worded. */
export function findCodeTextProblems(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [file, text] of sources) {
    const lines = text.split("\n");
    for (const [i, line] of lines.entries()) {
      const at = `${file}:${i + 1}`;
      const isBreakable = (COMMENT.test(line) && !/https?:/.test(line)) || SQL.test(line);
      if (line.length > MAX_COLUMNS && isBreakable) {
        problems.push(`${at} has ${line.length} columns: ${MAX_COLUMNS} at most`);
      }
      const opensBadly =
        BAD_OPENING.test(line) ||
        (BAD_BLOCK_OPENING.test(line) && BLOCK_START.test(lines[i - 1] ?? ""));
      if (opensBadly) problems.push(`${at}: start the comment with a verb or a noun`);
      problems.push(...findUnidiomatic(at, line));
    }
  }
  return problems;
}

/** Returns a sentence for each line of prose, or table cell, that is too long or badly worded. */
export function findPageProblems(pages: Sources): string[] {
  const problems: string[] = [];
  for (const [file, text] of pages) {
    let isCode = false;
    for (const [i, line] of text.split("\n").entries()) {
      if (line.startsWith("```")) isCode = !isCode;
      if (isCode) continue;
      const at = `${file}:${i + 1}`;
      problems.push(...findUnidiomatic(at, line));
      if (line.startsWith("|")) {
        const cells = line.split("|").map((cell) => visible(cell.trim()).length);
        const longest = Math.max(...cells);
        if (longest > MAX_CELL_CHARACTERS) {
          problems.push(
            `${at} has a cell of ${longest} characters: ${MAX_CELL_CHARACTERS} at most`,
          );
        }
      } else if (visible(line).length > MAX_PROSE_COLUMNS) {
        problems.push(`${at} has over ${MAX_PROSE_COLUMNS} columns`);
      }
    }
  }
  return problems;
}

/** Returns a sentence if the pages, without the changelog, are more than anybody reads. */
export function findPageExcess(pages: Sources): string[] {
  const read = [...pages].filter(([file]) => file !== "CHANGELOG.md");
  const words = read.flatMap(([, text]) => text.split(/\s+/).filter((word) => word !== ""));
  if (read.length <= MAX_PAGES && words.length <= MAX_WORDS) return [];
  return [
    `the docs have ${words.length} words on ${read.length} pages: ` +
      `${MAX_WORDS} on ${MAX_PAGES} at most`,
  ];
}

function findUnidiomatic(at: string, line: string): string[] {
  const [phrase] = UNIDIOMATIC.exec(line) ?? [];
  return phrase ? [`${at} says "${phrase}": write even if, at which, one after another`] : [];
}

/** Leaves out the addresses of links. */
function visible(markdown: string): string {
  return markdown.replaceAll(/\]\([^)]*\)/g, "]");
}
