import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, it } from "vitest";
import { openApiDocument } from "../../../scripts/openapi/document.ts";
import { MODELS } from "../../../src/config.ts";

interface Schema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
}

interface Content {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { summary?: string; value: unknown }>;
}

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: {
    name: string;
    in: string;
    description?: string;
    required?: boolean;
    schema: Schema;
  }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<
    string,
    { $ref?: string; description?: string; content?: Record<string, Content> }
  >;
  security?: object[];
}

const document = openApiDocument();
const source = JSON.stringify(document);
const schemas = document.components!.schemas as Record<string, Schema>;
const operations = Object.entries(
  document.paths as Record<string, Record<string, Operation>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) =>
    Object.assign(operation, { name: `${method.toUpperCase()} ${path}` }),
  ),
);

it("the OpenAPI document passes Redocly's recommended rules", async () => {
  // The specification has both …/video/{video_id} and …/{video_id}/answer_vqa.
  const config = await createConfig({
    extends: ["recommended"],
    rules: { "no-ambiguous-paths": "off" },
  });
  const problems = await lintFromString({ source, config });
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});

it("every operation has a unique name for clients, a summary, a description and a tag", () => {
  const names = operations.map(({ operationId }) => operationId);
  expect(new Set(names).size).toBe(operations.length);
  const tags = new Set(document.tags!.map(({ name }) => name));
  const incomplete = operations.filter(
    ({ operationId = "", summary = "", description = "", tags: [tag] = [] }) =>
      !/^[a-z]+([A-Z][a-z]+)+$/.test(operationId) ||
      summary.length < 8 ||
      !/^[A-Z].{30,}\.$/s.test(description) ||
      !tags.has(tag!),
  );
  expect(incomplete.map(({ name }) => name)).toEqual([]);
});

it("every tag has a description and an operation", () => {
  const used = new Set(operations.flatMap(({ tags = [] }) => tags));
  expect(document.tags!.filter(({ name, description }) => !description || !used.has(name))).toEqual(
    [],
  );
});

it("every parameter has a description", () => {
  const undescribed = operations.flatMap(({ name, parameters = [] }) =>
    parameters.filter(({ description }) => !isSentence(description)).map((one) => [name, one.name]),
  );
  expect(undescribed).toEqual([]);
});

it("every field of every request and response has a description", () => {
  const bodies = operations.flatMap(({ name, requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((body) =>
      Object.values(body?.content ?? {}).map(({ schema }) => [name, schema] as const),
    ),
  );
  const undescribed = [...Object.entries(schemas), ...bodies]
    .flatMap(([name, schema]) => Array.from(listFields(schema, name)))
    .filter(({ schema }) => !isSentence(descriptionOf(schema)));
  expect(undescribed.map(({ path }) => path)).toEqual([]);
});

it("every schema with a name has a description", () => {
  const undescribed = Object.entries(schemas).filter(([, { description }]) => !description);
  expect(undescribed.map(([name]) => name)).toEqual([]);
});

it("every JSON request has examples with a summary", () => {
  const without = operations.filter(({ requestBody }) => {
    const json = requestBody?.content["application/json"];
    const examples = Object.values(json?.examples ?? {});
    return json && (examples.length === 0 || examples.some(({ summary }) => !summary));
  });
  expect(without.map(({ name }) => name)).toEqual([]);
});

it("every multipart request has an example of parts that it takes", () => {
  const forms = operations.flatMap(({ name, requestBody }) => {
    const form = requestBody?.content["multipart/form-data"];
    return form ? [{ name, form }] : [];
  });
  expect(forms.length).toBeGreaterThan(0);
  for (const { name, form } of forms) {
    const parts = Object.keys(form.example ?? {});
    const unknown = parts.filter((part) => !(part in (form.schema.properties ?? {})));
    expect({ name, hasParts: parts.length > 0, unknown }).toEqual({
      name,
      hasParts: true,
      unknown: [],
    });
  }
});

it("every response that is a text has an example", () => {
  const texts = operations.flatMap(({ name, responses }) =>
    Object.values(responses).flatMap(({ content = {} }) =>
      Object.entries(content)
        .filter(([type]) => type.startsWith("text/"))
        .map(([type, { example }]) => ({ name: `${name} ${type}`, example })),
    ),
  );
  expect(texts.length).toBeGreaterThan(0);
  expect(texts.filter(({ example }) => example === undefined)).toEqual([]);
});

it("the examples of the OpenAPI document name models that are deployed", () => {
  const named = new Set([...source.matchAll(/@cf\/[\w./-]+/g)].map(([id]) => id));
  const deployed = new Set<string>(Object.values(MODELS).map(({ id }) => id));
  expect(named.size).toBeGreaterThan(0);
  expect([...named].filter((id) => !deployed.has(id))).toEqual([]);
});

it("every operation of the OpenAPI document declares 422, also one without parameters", () => {
  const without = operations.filter(({ responses }) => responses["422"] === undefined);
  expect(without.map(({ name }) => name)).toEqual([]);
});

it("every operation with a key declares its errors", () => {
  const incomplete = operations.filter(
    ({ security = [], responses }) =>
      responses["5XX"] === undefined ||
      (security.length > 0 && ["401", "403", "429"].some((status) => !responses[status])),
  );
  expect(incomplete.map(({ name }) => name)).toEqual([]);
});

it("a successful JSON response has one schema, which isn't a text", () => {
  const ambiguous = operations.filter(({ responses }) => {
    const schema = responses["200"]?.content?.["application/json"]?.schema;
    return schema && (schema.anyOf !== undefined || schema.type === "string");
  });
  expect(ambiguous.map(({ name }) => name)).toEqual([]);
});

it("an optional parameter has no example: pages that try the API would send it", () => {
  const prefilled = operations.flatMap(({ name, parameters = [] }) =>
    parameters
      .filter((one) => !one.required && one.in === "query" && "example" in one.schema)
      .map((one) => `${name} ${one.name}`),
  );
  expect(prefilled).toEqual([]);
});

it("the examples of searches contain the request template of the specification", () => {
  const search = operations.find(({ operationId }) => operationId === "searchIndex")!;
  const { examples } = search.requestBody!.content["application/json"]!;
  expect(Object.values(examples!)[0]!.value).toEqual({
    query: expect.any(String),
    asset_ids: [],
    top_k: 30,
    top_p: 0,
    modes: ["video", "image"],
    use_masks: false,
    use_boxes: false,
    queue_job: false,
  });
});

/** Yields the fields of a schema at any depth, without those of schemas that it names. */
function* listFields(schema: Schema, path: string): Generator<{ path: string; schema: Schema }> {
  const { properties = {}, items, additionalProperties, allOf = [], anyOf = [] } = schema;
  for (const [name, field] of Object.entries(properties)) {
    yield { path: `${path}.${name}`, schema: field };
    yield* listFields(field, `${path}.${name}`);
  }
  for (const part of [...allOf, ...anyOf, items, additionalProperties]) {
    if (typeof part === "object") yield* listFields(part, path);
  }
}

/** Returns the description of a field, or of the schema that it names. */
function descriptionOf({ description, $ref, allOf = [] }: Schema): string | undefined {
  if ($ref !== undefined) return schemas[$ref.split("/").at(-1)!]!.description;
  return description ?? allOf.map(descriptionOf).find(Boolean);
}

function isSentence(text: string | undefined): boolean {
  return text !== undefined && text.length >= 8 && /^[A-Z`−].*[.:]$/s.test(text);
}
