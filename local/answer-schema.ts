import * as z from "zod";

const JsonSchema = z.object({
  type: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).default([]),
  items: z.unknown().optional(),
  maxItems: z.number().optional(),
});

/**
 * Shapes `facts` to a JSON schema: only the properties that the schema names, at most `maxItems` of
 * a list. Returns undefined if the schema requires a property that the facts lack.
 */
export function fillSchema(jsonSchema: unknown, value: unknown): unknown {
  const parsed = JsonSchema.safeParse(jsonSchema ?? {});
  if (!parsed.success) return undefined;
  const schema = parsed.data;
  if (schema.type !== undefined && !hasType(schema.type, value)) return undefined;
  if (Array.isArray(value)) {
    const items = value.slice(0, schema.maxItems).map((item) => fillSchema(schema.items, item));
    return items.includes(undefined) ? undefined : items;
  }
  if (typeof value !== "object" || value === null || !schema.properties) return value;
  const entries = Object.entries(schema.properties).flatMap(([name, property]) => {
    const entry = Object.entries(value).find(([key]) => key === name);
    const filled = entry && fillSchema(property, entry[1]);
    return filled === undefined ? [] : [[name, filled] as const];
  });
  const filled = Object.fromEntries(entries);
  return schema.required.every((name) => name in filled) ? filled : undefined;
}

function hasType(type: string, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type && !Array.isArray(value);
}
