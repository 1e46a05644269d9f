import { type SqlToken, tokenizeSql } from "../sql-statements.ts";

/** Words that begin a line of a statement, outside of parentheses. */
const CLAUSES = new Set(
  [
    ["SELECT", "FROM", "JOIN", "LEFT", "CROSS", "ON", "WHERE", "AND", "GROUP", "HAVING", "ORDER"],
    ["SET", "VALUES", "LIMIT", "UNION", "EXCEPT", "RETURNING"],
  ].flat(),
);
const MAX_COLUMNS = 100;

/** Writes a statement with a line for each clause, however its source is broken into lines. */
export function formatSql(sql: string): string {
  const lines: string[] = [];
  let line = "";
  let depth = 0;
  const indent = (extra: number) => " ".repeat(2 * (depth + extra));
  const tokens = tokenizeSql(sql.trim());
  for (const [i, { text }] of tokens.entries()) {
    if (/^\s/.test(text)) {
      const next = tokens[i + 1]!.text;
      if (depth === 0 && CLAUSES.has(next)) {
        lines.push(line);
        line = indent(1);
      } else if (line.length + 1 + wordFrom(tokens, i + 1).length > MAX_COLUMNS) {
        lines.push(line);
        line = indent(2);
      } else if (line.trim() !== "") line += " ";
      continue;
    }
    if (text === ")") depth--;
    line += text;
    if (text === "(") depth++;
  }
  return [...lines, line].join("\n");
}

/** Returns the text up to the next white space. */
function wordFrom(tokens: readonly SqlToken[], from: number): string {
  const rest = tokens.slice(from).map(({ text }) => text);
  const end = rest.findIndex((text) => /^\s/.test(text));
  return rest.slice(0, end === -1 ? undefined : end).join("");
}
