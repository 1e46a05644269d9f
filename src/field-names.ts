import type * as z from "zod";

/** A name in snake case, such as of a column or an API's field, as the code has it. */
type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Names the fields of a record as the code does. */
export function toCamelFields<R extends object>(record: R): CamelFields<R> {
  const fields = Object.entries(record).map(([name, value]) => [toCamelCase(name), value]);
  return Object.fromEntries(fields) as CamelFields<R>;
}

type CamelFields<R> = { [Name in keyof R as CamelCase<Name>]: R[Name] };

/** Type of the field of a row that a record's field shows; moments in time are epoch ms. */
type Shown<Name, Field> = Name extends `${string}_at`
  ? number | (null extends Field ? null : never)
  : Field;

/** Names of the fields that a record takes from a row as they are. */
type MappedName<R, Row> = {
  [Name in keyof R]-?: CamelCase<Name> extends keyof Row
    ? Row[CamelCase<Name>] extends Shown<Name, R[Name]>
      ? Name
      : never
    : never;
}[keyof R];

/** Names of the fields of schemas, in a record and in a row. */
const names = new WeakMap<z.ZodObject, (readonly [field: string, column: string])[]>();

/**
 * Makes the record of a row by its schema: a field is the one in `computed`, or else the row's of
 * the same name in camelCase. Moments in time (`…_at`) become RFC 3339.
 */
export function mapRecord<Schema extends z.ZodObject, Row extends object>(
  schema: Schema,
  row: Row,
  computed: Omit<z.input<Schema>, MappedName<z.input<Schema>, Row>> & Partial<z.input<Schema>>,
): z.input<Schema> {
  const record: Record<string, unknown> = {};
  for (const [field, column] of namesOf(schema)) {
    const stored: unknown = Reflect.get(row, column);
    const isTime = typeof stored === "number" && field.endsWith("_at");
    const shown = isTime ? new Date(stored).toISOString() : stored;
    const value = field in computed ? computed[field] : shown;
    if (value !== undefined) record[field] = value;
  }
  return record as z.input<Schema>;
}

function namesOf(schema: z.ZodObject) {
  const known = names.get(schema);
  if (known) return known;
  const made = Object.keys(schema.shape).map((field) => [field, toCamelCase(field)] as const);
  names.set(schema, made);
  return made;
}
