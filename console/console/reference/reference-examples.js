const METHODS = new Set(["get", "post", "put", "patch", "delete"]);
const NO_KEY = "Enter an API key at the top of this page.";

/** Placeholders of path parameters for which the account or the index has nothing. */
const NOTHING_FOUND = {
  index_name: "There is no index yet: create one.",
  webhook_index_name: "No index has a webhook: set one with PATCH.",
  video_id: "This index has no ready video.",
  image_id: "This index has no ready image.",
  upload_id: "This index has no unfinished upload.",
  watch_id: "This index has no watch.",
  job_id: "There is no job yet.",
};

/**
 * Returns a copy of the OpenAPI document for the forms of Swagger UI. A path parameter has the id of
 * a record of `records` as its example, or a placeholder in `x-placeholder`. The id of what an
 * operation deletes is never filled in. The body of a PATCH has the record's values, so it changes
 * nothing as it is. Optional parameters and form fields have no example and no default value,
 * because Swagger UI would send these. `records` is null without an API key.
 */
export function fillExamples(document, records) {
  const copy = structuredClone(document);
  for (const [path, item] of Object.entries(copy.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (METHODS.has(method)) fillOperation(path, method, operation, records);
    }
  }
  return copy;
}

function fillOperation(path, method, operation, records) {
  const target = /.*\{(\w+)\}/.exec(path)?.[1];
  for (const parameter of operation.parameters ?? []) {
    const { name } = parameter;
    if (parameter.in !== "path") emptyIfOptional(parameter);
    else if (method === "delete" && name === target) {
      fillPath(parameter, null, "Enter what to delete.");
    } else {
      const kind = path.includes("/webhook") && name === "index_name" ? `webhook_${name}` : name;
      const placeholder = records === null ? NO_KEY : (NOTHING_FOUND[kind] ?? "Enter an id.");
      fillPath(parameter, records?.[kind]?.[name], placeholder);
    }
  }
  const content = operation.requestBody?.content ?? {};
  emptyForm(content["multipart/form-data"]?.schema);
  const record = records?.[target];
  if (method === "patch" && record && content["application/json"]) {
    putCurrentValues(content["application/json"], record);
  }
}

function fillPath(parameter, value, placeholder) {
  removeExamples(parameter);
  if (value) parameter.example = value;
  else parameter.schema["x-placeholder"] = placeholder;
}

function emptyIfOptional(parameter) {
  if (parameter.required) return;
  describeDefault(parameter, parameter.schema.default);
  removeExamples(parameter);
}

/** Gives the optional text fields of a form an empty example: without one, Swagger UI makes one up. */
function emptyForm(schema) {
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    if (schema.required?.includes(name) || field.format === "binary") continue;
    describeDefault(field, field.default);
    delete field.default;
    delete field.examples;
    field.example = field.type === "array" ? [] : "";
  }
}

/** Puts an example with the values that a record has before the other examples. */
function putCurrentValues(media, record) {
  const names = Object.keys(media.schema?.properties ?? {}).filter((name) => name in record);
  const value = Object.fromEntries(names.map((name) => [name, record[name]]));
  delete media.example;
  media.examples = { current: { summary: "The current values", value }, ...media.examples };
}

/** Adds a default value to the description, if it isn't empty and the description has none. */
function describeDefault(target, value) {
  const text = target.description ?? "";
  if (value === undefined || value === "" || /\bdefault\b/i.test(text)) return;
  target.description = `${text} Default: \`${JSON.stringify(value)}\`.`.trim();
}

function removeExamples(parameter) {
  for (const holder of [parameter, parameter.schema]) {
    delete holder.example;
    delete holder.examples;
  }
  delete parameter.schema.default;
}
