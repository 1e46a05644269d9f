import { aiError } from "./engine-client.ts";

/**
 * Forms of a request for JSON: a JSON schema in OpenAI's wrapper (`{name, schema}`), a bare JSON
 * schema, or a schema in the prompt.
 */
export const JSON_FORMS = ["wrapped", "bare", "json_object"] as const;
export type JsonForm = (typeof JSON_FORMS)[number];

/** `response_format` of a chat. */
export interface ResponseFormat {
  type: string;
  json_schema?: Record<string, unknown> | undefined;
}

/**
 * Returns the JSON schema that a reply should follow; undefined if none is requested. Throws 5006
 * for a form that isn't in `accepted`.
 */
export function requestedSchema(
  format: ResponseFormat | undefined,
  prompt: string,
  accepted: readonly JsonForm[],
): unknown {
  if (!format) return undefined;
  const form = formOf(format);
  if (!form || !accepted.includes(form)) {
    throw aiError(`5006: Error: Bad input: response_format is not one of: ${accepted.join(", ")}`);
  }
  if (form === "json_object") return findSchema(prompt);
  return form === "wrapped" ? format.json_schema?.["schema"] : format.json_schema;
}

function formOf({ type, json_schema: schema }: ResponseFormat): JsonForm | undefined {
  if (type === "json_object") return "json_object";
  if (type !== "json_schema" || !schema) return undefined;
  return "schema" in schema ? "wrapped" : "bare";
}

/** Finds the JSON schema in a prompt: a line that is a JSON object. */
function findSchema(prompt: string): unknown {
  const line = prompt.split("\n").find((text) => text.startsWith("{"));
  return line === undefined ? undefined : JSON.parse(line);
}
