import { expect, it } from "vitest";
import openapi from "../../../openapi.json" with { type: "json" };
import { type DocumentedOperation, fillExamples } from "../../support/console-modules.ts";

const RECORDS = {
  index_name: { index_name: "trip", description: "Clips", metadata: { year: 2026 }, settings: {} },
  webhook_index_name: { index_name: "watched" },
  video_id: { video_id: "vid_1", title: "<b>A</b> ☃", metadata: {}, state: "ready" },
  image_id: { image_id: "img_1", title: "B", metadata: {} },
  upload_id: { upload_id: "upl_1" },
  job_id: { job_id: "job_1" },
};

interface Filled {
  path: string;
  method: string;
  operation: DocumentedOperation;
}

function fill(records: typeof RECORDS | Record<string, undefined> | null): Filled[] {
  return Object.entries(fillExamples(openapi, records).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** Finds an operation by its method and path. */
function operation(filled: Filled[], name: string): DocumentedOperation {
  return filled.find(({ method, path }) => `${method.toUpperCase()} ${path}` === name)!.operation;
}

/** The path parameters of an operation: an example, or a placeholder in a list. */
function pathFields({ parameters = [] }: DocumentedOperation): Record<string, unknown> {
  const fields = parameters.filter((parameter) => parameter.in === "path");
  return Object.fromEntries(
    fields.map(({ name, example, schema }) => [name, example ?? [schema["x-placeholder"]]]),
  );
}

it.each([
  ["GET /index/{index_name}/video/{video_id}", { index_name: "trip", video_id: "vid_1" }],
  ["GET /index/{index_name}/image/{image_id}", { index_name: "trip", image_id: "img_1" }],
  ["GET /index/{index_name}/uploads/{upload_id}", { index_name: "trip", upload_id: "upl_1" }],
  ["GET /jobs/{job_id}", { job_id: "job_1" }],
  ["GET /index/{index_name}/webhook", { index_name: "watched" }],
  ["POST /index/{index_name}/webhook/rotate", { index_name: "watched" }],
])("The path parameters of %s are ids of the account", (name, fields) => {
  expect(pathFields(operation(fill(RECORDS), name))).toEqual(fields);
});

it("The id of what an operation deletes is never filled in", () => {
  const deletions = fill(RECORDS).filter(({ method }) => method === "delete");
  expect(deletions.length).toBeGreaterThan(5);
  for (const { path, operation: deletion } of deletions) {
    const [, target] = /.*\{(\w+)\}/.exec(path)!;
    expect(pathFields(deletion)[target!]).toEqual(["Enter what to delete."]);
  }
});

it("Without an API key, path parameters ask for one", () => {
  const fields = pathFields(operation(fill(null), "GET /index/{index_name}/video/{video_id}"));
  const sentence = ["Enter an API key at the top of this page."];
  expect(fields).toEqual({ index_name: sentence, video_id: sentence });
});

it.each([
  ["GET /index/{index_name}", { index_name: ["There is no index yet: create one."] }],
  [
    "GET /index/{index_name}/webhook",
    { index_name: ["No index has a webhook: set one with PATCH."] },
  ],
  ["GET /jobs/{job_id}", { job_id: ["There is no job yet."] }],
])("A path parameter of %s says what the account lacks", (name, fields) => {
  expect(pathFields(operation(fill({}), name))).toEqual(fields);
});

it.each([RECORDS, null])("Optional parameters and form fields are empty (%#)", (records) => {
  for (const { method, path, operation: filled } of fill(records)) {
    for (const { required, schema, name, ...parameter } of filled.parameters ?? []) {
      if (required) continue;
      const values = [parameter.example, parameter.examples, schema.example, schema["default"]];
      const found = values.filter((value) => value !== undefined);
      expect({ method, path, name, found }).toEqual({ method, path, name, found: [] });
    }
    const form = filled.requestBody?.content["multipart/form-data"]?.schema;
    for (const [name, field] of Object.entries(form?.properties ?? {})) {
      const { format, default: standard, example } = field;
      if (format === "binary" || form?.required?.includes(name)) continue;
      expect({ path, name, standard, example }).toEqual({ path, name, example: "" });
    }
  }
});

it("The description of an optional parameter has its default value", () => {
  const { parameters } = operation(fill(null), "GET /index/{index_name}/videos");
  const limit = parameters!.find(({ name }) => name === "limit")!;
  expect(limit.description).toMatch(/Default: `50`\.$/);
});

it.each([
  ["PATCH /index/{index_name}", { description: "Clips", metadata: { year: 2026 }, settings: {} }],
  ["PATCH /index/{index_name}/video/{video_id}", { title: "<b>A</b> ☃", metadata: {} }],
  ["PATCH /index/{index_name}/image/{image_id}", { title: "B", metadata: {} }],
])("The first body of %s has the record's values, so it changes nothing", (name, value) => {
  const { examples } = operation(fill(RECORDS), name).requestBody!.content["application/json"]!;
  expect(Object.values(examples!)[0]).toMatchObject({ value });
});

it("The document that is filled in stays as it is", () => {
  const before = structuredClone(openapi);
  fillExamples(openapi, RECORDS);
  expect(openapi).toEqual(before);
});
