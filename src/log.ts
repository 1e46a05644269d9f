import type { Trace } from "./errors.ts";

type Field = string | number | boolean | null | undefined;

/** Fields that are never logged: keys, tokens, what people search for, say, show or ask. */
type Secret =
  | "key"
  | "token"
  | "query"
  | "transcript"
  | "prompt"
  | "body"
  | "text"
  | "url"
  | "title";

type Fields = Record<string, Field> & { [name in Secret]?: never } & { cause?: Trace };

/** One line of JSON; `event` is `area.what_happened`. Of an error it takes only the trace: `traceOf`. */
export function log(level: "info" | "warn" | "error", event: string, fields: Fields = {}): void {
  console[level](JSON.stringify({ event, ...fields }));
}
