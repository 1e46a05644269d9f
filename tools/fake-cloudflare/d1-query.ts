/**
 * Splits the `sql` of a query at `;`, as public reports of cloudflare/workers-sdk say that D1's API
 * does. The numbers are theirs. How it really splits isn't documented: this takes the harder case.
 */
export function splitQuery(sql: string): string[] {
  const pieces: string[] = [];
  let piece = "";
  let line = "";
  let quote = ""; // a quote mark in a comment opens a string: #4713
  let block: Block | null = null;
  for (const character of sql) {
    piece += character;
    line = character === "\n" ? "" : line + character;
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (/['"`]/.test(character)) quote = character;
    else if (character === ";" && !block) {
      pieces.push(piece); // also at the `;` of a comment: #3892
      piece = "";
    } else block = nextBlock(block, character, line);
  }
  if (piece.trim() !== "") pieces.push(piece);
  return pieces;
}

/** The body of a trigger, whose `;` don't split. */
interface Block {
  parentheses: number;
}

/**
 * Opens a block after BEGIN in capitals (#15314) on the line of its CREATE TRIGGER (#15690). Closes
 * it at the end of that line, and after an END that is in no parentheses (#4727).
 */
function nextBlock(block: Block | null, character: string, line: string): Block | null {
  if (!block) return /^CREATE TRIGGER .*\sBEGIN\s$/.test(line) ? { parentheses: 0 } : null;
  if (character === "\n") return null;
  if (character === "(") return { parentheses: block.parentheses + 1 };
  if (character === ")") return { parentheses: block.parentheses - 1 };
  return block.parentheses === 0 && /\sEND$/.test(line) ? null : block;
}
