import { toJsonLine } from "./clean-text.ts";
import type { Trace } from "./errors.ts";

type Field = string | number | boolean | null | undefined;

/** Fields that are never logged: keys, tokens, and user data. */
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

/**
 * Logs one line of JSON. `event` is `area.what_happened`; `cause` takes only a `traceOf` an error.
 */
export function log(level: "info" | "warn" | "error", event: string, fields: Fields = {}): void {
  console[level](toJsonLine({ event, ...fields }));
}
