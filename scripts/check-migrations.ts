import { basename } from "node:path";
import { type SqlToken, splitStatements, tokenizeSql } from "../tools/sql-statements.ts";
import type { Sources } from "./check-layers.ts";

/** Files with more triggers were refused: #15178. */
const MAX_TRIGGERS = 20;

interface Problem {
  /** Offset in the file. */
  at: number;
  text: string;
  /** Issue of cloudflare/workers-sdk that says why. */
  issue: number;
}

/**
 * Returns a sentence for each part of a migration at which `wrangler d1 migrations apply` was
 * reported to fail, or an import. Deploy imports, but an operator may run Wrangler by hand.
 */
export function findMigrationProblems(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [file, sql] of sources) {
    if (!/^\d{4}_[a-z0-9_]+\.sql$/.test(basename(file))) {
      problems.push(`${file}: name it with four digits and words, such as 0002_add_labels.sql`);
    }
    const tokens = tokenizeSql(sql).filter(({ text }) => text.trim() !== "");
    const found = [
      ...findCommentProblems(tokens),
      ...findTriggerProblems(sql),
      ...findTransactionProblems(sql),
      ...findCaseProblems(tokens),
      ...findEndProblems(sql, tokens),
    ];
    for (const { at, text, issue } of found.toSorted((a, b) => a.at - b.at)) {
      const line = sql.slice(0, at).split("\n").length;
      problems.push(`${file}:${line}: ${text} (cloudflare/workers-sdk#${issue})`);
    }
  }
  return problems;
}

function findCommentProblems(tokens: SqlToken[]): Problem[] {
  const problems: Problem[] = [];
  for (const { at, text } of tokens.filter(({ isComment }) => isComment)) {
    if (/['"`]/.test(text)) {
      problems.push({
        at,
        text: "no quote marks in a comment: D1 opens a string there",
        issue: 4713,
      });
    }
    if (text.includes(";")) {
      problems.push({ at, text: "no `;` in a comment: D1 ends a statement there", issue: 3892 });
    }
  }
  return problems;
}

function findTriggerProblems(sql: string): Problem[] {
  const triggers = splitStatements(sql).filter(({ isTrigger }) => isTrigger);
  const problems: Problem[] = [];
  for (const { at, text } of triggers) {
    if (text.includes("\n")) {
      const reason = "write a trigger in one line: D1 cuts one of several lines at its first `;`";
      problems.push({ at, text: reason, issue: 15690 });
    }
    for (const token of tokenizeSql(text)) {
      if (!/^(create|trigger|begin|end)$/i.test(token.text)) continue;
      if (token.text === token.text.toUpperCase()) continue;
      const reason = `write ${token.text.toUpperCase()} in capitals: D1 finds a trigger by them`;
      problems.push({ at: at + token.at, text: reason, issue: 15314 });
    }
  }
  const tooMany = triggers[MAX_TRIGGERS];
  if (tooMany) {
    const reason = `at most ${MAX_TRIGGERS} triggers in a file: D1 refused one of 21`;
    problems.push({ at: tooMany.at, text: reason, issue: 15178 });
  }
  return problems;
}

function findTransactionProblems(sql: string): Problem[] {
  return splitStatements(sql)
    .filter(({ text }) => /^(BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b/i.test(text))
    .map(({ at }) => ({ at, text: "no transaction: D1 runs a file in one", issue: 13272 }));
}

function findCaseProblems(tokens: SqlToken[]): Problem[] {
  return tokens.flatMap(({ at, text }, i) => {
    if (!/^case$/i.test(text) || tokens[i - 1]?.text === "(") return [];
    const reason = "write (CASE … END) in parentheses: D1 ends a trigger at its END";
    return [{ at, text: reason, issue: 4727 }];
  });
}

function findEndProblems(sql: string, tokens: SqlToken[]): Problem[] {
  const problems: Problem[] = [];
  const carriageReturn = sql.indexOf("\r");
  if (carriageReturn >= 0) {
    const reason = "end lines with LF, not CRLF: D1 cuts a trigger there";
    problems.push({ at: carriageReturn, text: reason, issue: 14991 });
  }
  const last = tokens.findLast(({ isComment }) => !isComment);
  if (last && last.text !== ";") {
    const reason = "end the last statement with `;`: the row of the ledger follows";
    problems.push({ at: last.at, text: reason, issue: 5564 });
  }
  return problems;
}
