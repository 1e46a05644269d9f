/** The keywords of JSON Schema from which examples are composed. */
interface Schema {
  $ref?: string;
  allOf?: Schema[];
  anyOf?: Schema[];
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
}

type Components = Record<string, Schema>;

interface MediaType {
  schema?: Schema;
  example?: unknown;
}

interface Content {
  content?: Record<string, MediaType>;
}

/** The parts of an OpenAPI document that have examples. */
export interface ExampleDocument {
  components?: { schemas?: object; responses?: object };
  paths?: object;
}

/**
 * Adds an example to each response that has none, composed from the examples of its fields.
 * Changes the document in place. Throws for a field from whose schema no value can be told.
 */
export function addResponseExamples(document: ExampleDocument): void {
  const components = (document.components?.schemas ?? {}) as Components;
  const operations = Object.values(document.paths ?? {}).flatMap((path: object) =>
    Object.values(path),
  ) as { responses: Record<string, Content> }[];
  const responses = [
    ...Object.values((document.components?.responses ?? {}) as Record<string, Content>),
    ...operations.flatMap((operation) => Object.values(operation.responses)),
  ];
  const contents = responses.flatMap(({ content }) => Object.values(content ?? {}));
  for (const content of contents) {
    if (!content.schema || content.example !== undefined) continue;
    content.example = composeExample(content.schema, components);
  }
}

/** Composes a value that a schema allows, from the examples of its parts. Throws without one. */
function composeExample(schema: Schema, components: Components, path = ""): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return composeExample(schema.anyOf[0]!, components, path);
  if (schema.allOf) {
    const parts = schema.allOf.filter((part) => part.$ref !== undefined || part.properties);
    const [first, ...others] = parts.map((part) => composeExample(part, components, path));
    return others.length === 0 ? first : Object.assign({}, first, ...others);
  }
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1)!;
    return composeExample(components[name]!, components, path || name);
  }
  const [type] = [schema.type].flat();
  if (type === "boolean") return false;
  if (type === "array") return [composeExample(schema.items!, components, `${path}[]`)];
  if (type === "object" && schema.properties) {
    const required = new Set(schema.required);
    const fields = Object.entries(schema.properties).filter(([name]) => required.has(name));
    return Object.fromEntries(
      fields.map(([name, field]) => [name, composeExample(field, components, `${path}.${name}`)]),
    );
  }
  throw new Error(`The field ${path} of the OpenAPI document needs an example.`);
}
