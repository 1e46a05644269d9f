/** A token of SQL: a comment, a string, a quoted name, a word, white space or a character. */
const TOKEN =
  /--[^\n]*|\/\*[^]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|\w+|\s+|[^]/g;
const TRIGGER = /^CREATE (TEMP |TEMPORARY )?TRIGGER /i;

export interface SqlToken {
  text: string;
  /** Offset in the SQL. */
  at: number;
  isComment: boolean;
}

export interface SqlStatement {
  /** Text without the comments before it. It ends with `;` unless the SQL ends without one. */
  text: string;
  /** Offset in the SQL. */
  at: number;
  isTrigger: boolean;
}

/** Returns the tokens of SQL in their order. */
export function tokenizeSql(sql: string): SqlToken[] {
  return [...sql.matchAll(TOKEN)].map(({ 0: text, index: at }) => ({
    text,
    at,
    isComment: /^(--|\/\*)/.test(text),
  }));
}

/** Splits SQL into statements as SQLite does: a trigger ends with `; END;`. */
export function splitStatements(sql: string): SqlStatement[] {
  const statements: SqlStatement[] = [];
  let words: string[] = [];
  let at = 0;
  const add = (end: number) => {
    if (words.some((word) => word !== ";")) {
      statements.push({ text: sql.slice(at, end).trim(), at, isTrigger: isTrigger(words) });
    }
    words = [];
  };
  for (const token of tokenizeSql(sql)) {
    if (token.isComment || token.text.trim() === "") continue;
    if (words.length === 0) ({ at } = token);
    words.push(token.text);
    if (token.text === ";" && (!isTrigger(words) || isTriggerEnd(words))) add(token.at + 1);
  }
  add(sql.length);
  return statements;
}

function isTrigger(words: string[]): boolean {
  return TRIGGER.test(`${words.slice(0, 3).join(" ")} `);
}

function isTriggerEnd(words: string[]): boolean {
  return /^; END ;$/i.test(words.slice(-3).join(" "));
}
