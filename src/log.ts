type Field = string | number | boolean | null | undefined;

/** Fields that are never logged: keys, tokens, what people search for, say, show or ask. */
type Secret = "key" | "token" | "query" | "transcript" | "prompt" | "body" | "text";

type Fields = Record<string, Field> & { [name in Secret]?: never };

/** One line of JSON; `event` is `area.what_happened`. */
export function log(level: "info" | "warn" | "error", event: string, fields: Fields = {}): void {
  console[level](JSON.stringify({ event, ...fields }));
}
