import { expect } from "vitest";
import type { OperationParameter, Schema } from "../../tools/openapi.ts";

/** An invalid value and its expected issue. `at` is the location of the issue within the value. */
export interface InvalidValue {
  value: unknown;
  type: string;
  msg: string;
  at?: (string | number)[];
}

const STRING = "Input should be a valid string";
const NUL = "A string can't contain U+0000";

/** Returns a value for each rule that a text in a URL or a form can break. */
export function invalidTexts(schema: Schema): InvalidValue[] {
  const type = [schema.type].flat()[0];
  if (type === "integer") {
    const parsing = "Input should be a valid integer, unable to parse string as an integer";
    return [
      ...["abc", "1.5", "", "0x1", "1e400"].map((value) => ({
        value,
        type: "int_parsing",
        msg: parsing,
      })),
      ...outOfRange(schema).map(({ value, type: name, msg }) => ({
        value: String(value),
        type: name,
        msg,
      })),
      ...(schema.maximum === undefined ? [] : [atMost("9".repeat(40), schema.maximum)]),
    ];
  }
  if (type === "number") {
    const msg = "Input should be a valid number, unable to parse string as a number";
    return [
      ...["abc", "", "nan", "inf", "1e400", "1,5"].map((value) => ({
        value,
        type: "float_parsing",
        msg,
      })),
      ...outOfRange(schema).map(({ value, type: name, msg }) => ({
        value: String(value),
        type: name,
        msg,
      })),
    ];
  }
  if (type === "boolean") {
    const msg = "Input should be a valid boolean, unable to interpret input";
    return ["perhaps", "", "2"].map((value) => ({ value, type: "bool_parsing", msg }));
  }
  if (type === "array") return invalidLists(schema, (item) => invalidTexts(item)[0]);
  if (schema.format === "json") {
    return [
      { value: "[]", type: "dict_type", msg: "Input should be an object" },
      { value: '{"a":', type: "json_invalid", msg: "JSON decode error at byte 5: it is not JSON" },
      {
        value: `${'{"a":'.repeat(33)}1${"}".repeat(33)}`,
        type: "json_invalid",
        msg: "JSON decode error at byte 160: it nests deeper than 32 levels",
      },
    ];
  }
  return invalidStrings(schema);
}

/**
 * Returns a value for each rule that a value in a JSON body can break. Null breaks one only if the
 * field is required, or an item of a list.
 */
export function invalidJsonValues(schema: Schema, isRequired: boolean): InvalidValue[] {
  const [type, other] = [schema.type].flat();
  const nothing = other === "null" || !isRequired ? [] : [null];
  const all = (values: unknown[], name: string, msg: string) =>
    [...nothing, ...values].map((value) => ({ value, type: name, msg }));
  switch (type) {
    case "string": {
      if (schema.enum) return all([7, {}, "nope"], "literal_error", literalMessage(schema.enum));
      return [...all([7, true, [], {}], "string_type", STRING), ...invalidStrings(schema)];
    }
    case "integer": {
      const msg = "Input should be a valid integer";
      return [...all(["3", 1.5, true, [], {}], "int_type", msg), ...outOfRange(schema)];
    }
    case "number": {
      const msg = "Input should be a valid number";
      return [...all(["3", true, [], {}], "float_type", msg), ...outOfRange(schema)];
    }
    case "boolean":
      return all(["yes", 1, [], {}], "bool_type", "Input should be a valid boolean");
    case "array":
      return [
        ...all(["a", 7, {}], "list_type", "Input should be a list"),
        ...invalidLists(schema, (item) => invalidJsonValues(item, true)[0]),
      ];
    default:
      return [
        ...all(["a", 7, [], true], "dict_type", "Input should be an object"),
        ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
          invalidJsonValues(property, schema.required?.includes(name) ?? false).map((wrong) =>
            nestUnder(name, wrong),
          ),
        ),
        ...(schema.additionalProperties === undefined ? [] : [nestedNul()]),
      ];
  }
}

/** Returns a value for each rule that a parameter can break. */
export function invalidParameters({ schema, in: part }: OperationParameter): InvalidValue[] {
  if (part === "header") return invalidStrings(schema).filter(({ value }) => isHeader(value));
  // A path segment can't be empty.
  return invalidTexts(schema).filter(({ value }) => part !== "path" || value !== "");
}

function isHeader(value: unknown): boolean {
  return typeof value === "string" && /^[\x20-\x7e]+$/.test(value);
}

function invalidStrings(schema: Schema): InvalidValue[] {
  const { minLength = 0, maxLength, pattern, format } = schema;
  if (schema.enum) {
    return ["nope", ""].map((value) => ({
      value,
      type: "literal_error",
      msg: literalMessage(schema.enum!),
    }));
  }
  const broken: InvalidValue[] = [{ value: "a\0b", type: "value_error", msg: NUL }];
  if (minLength > 0) {
    const msg = `String should have at least ${minLength} character${minLength === 1 ? "" : "s"}`;
    broken.push({ value: "", type: "string_too_short", msg });
  }
  if (format === "email") {
    const msg = "value is not a valid email address";
    broken.push({ value: "nobody", type: "value_error", msg });
  } else if (format === "byte") {
    broken.push({ value: "a", type: "value_error", msg: "it is not a valid base64" });
  } else if (format === "uri") {
    const msg = "Input should be a valid URL, with http:// or https:// at its beginning";
    broken.push({ value: "nowhere", type: "url_parsing", msg });
    broken.push({ value: "ftp://a.example/", type: "url_parsing", msg });
  } else if (format === "date-time") {
    const msg = "it is not a valid time with its zone, such as 2027-01-31T12:00:00Z";
    broken.push({ value: "tomorrow", type: "value_error", msg });
  } else if (pattern !== undefined) {
    const msg = expect.stringMatching(/^String should be [^^$[\\]+$/) as string; // in words
    broken.push({ value: "- -", type: "string_pattern_mismatch", msg });
    broken.push({ value: "x".repeat(300), type: "string_pattern_mismatch", msg });
  } else if (maxLength !== undefined) {
    const msg = `String should have at most ${maxLength} characters`;
    broken.push({ value: "x".repeat(maxLength + 1), type: "string_too_long", msg });
  }
  return broken;
}

function outOfRange({ minimum, maximum }: Schema): InvalidValue[] {
  return [
    ...(minimum === undefined
      ? []
      : [
          {
            value: minimum - 1,
            type: "greater_than_equal",
            msg: `Input should be greater than or equal to ${minimum}`,
          },
        ]),
    ...(maximum === undefined ? [] : [atMost(maximum + 1, maximum)]),
  ];
}

function atMost(value: unknown, maximum: number): InvalidValue {
  const msg = `Input should be less than or equal to ${maximum}`;
  return { value, type: "less_than_equal", msg };
}

/** Returns the example of an object, made of those of its fields. */
function exampleOf({ example: own, properties }: Schema): unknown {
  if (own !== undefined) return own;
  const examples = Object.entries(properties ?? {}).map(([name, { example }]) => [name, example]);
  return properties && (Object.fromEntries(examples) as object);
}

function invalidLists(
  schema: Schema,
  wrongItem: (item: Schema) => InvalidValue | undefined,
): InvalidValue[] {
  const { items = {}, minItems = 0, maxItems } = schema;
  const item = wrongItem(items);
  const good = exampleOf(items) ?? items.enum?.[0] ?? (items.format === "byte" ? "YQ==" : "a");
  const lists: InvalidValue[] = [];
  if (item) lists.push({ ...item, value: [good, item.value], at: [1, ...(item.at ?? [])] });
  if (minItems > 0) {
    const msg = `List should have at least ${minItems} item${minItems === 1 ? "" : "s"}, not 0`;
    lists.push({ value: [], type: "too_short", msg });
  }
  if (maxItems !== undefined) {
    const value = Array.from({ length: maxItems + 1 }, () => good);
    const msg = `List should have at most ${maxItems} items, not ${value.length}`;
    lists.push({ value, type: "too_long", msg });
  }
  return lists;
}

function nestUnder(name: string, wrong: InvalidValue): InvalidValue {
  return { ...wrong, value: { [name]: wrong.value }, at: [name, ...(wrong.at ?? [])] };
}

/** Returns a NUL in a nested string, which even an object of any fields can't contain. */
function nestedNul(): InvalidValue {
  return { value: { a: "a\0b" }, type: "value_error", msg: NUL, at: ["a"] };
}

function literalMessage(names: string[]): string {
  const quoted = names.map((name) => `'${name}'`);
  const last = quoted.pop()!;
  return `Input should be ${quoted.length > 0 ? `${quoted.join(", ")} or ${last}` : last}`;
}
