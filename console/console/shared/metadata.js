/**
 * Returns the rows of a metadata object: text stands as it is, other values as JSON. Text that reads
 * as JSON, such as "2024", has quotation marks.
 */
export function metadataRows(metadata) {
  return Object.entries(metadata).map(([name, value]) => {
    const isPlain = typeof value === "string" && value === value.trim() && !isJson(value);
    return { name, value: isPlain ? value : JSON.stringify(value) };
  });
}

/**
 * Makes a metadata object of rows: the reverse of `metadataRows`. Rows without a name and a value are
 * left out. Throws an error with a sentence for the user.
 */
export function readRows(rows) {
  const entries = rows
    .map(({ name, value }) => [name.trim(), value.trim()])
    .filter(([name, value]) => name !== "" || value !== "");
  const names = entries.map(([name]) => name);
  const unnamed = entries.find(([name]) => name === "");
  if (unnamed) throw new Error(`The value “${unnamed[1]}” has no name.`);
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated) throw new Error(`The name “${repeated}” is there twice.`);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, isJson(value) ? JSON.parse(value) : value]),
  );
}

/** Parses metadata that was written as JSON. Throws an error with a sentence for the user. */
export function readJsonObject(text) {
  let value;
  try {
    value = JSON.parse(text.trim() || "{}");
  } catch (error) {
    throw new Error(`This isn't JSON: ${error.message}`, { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error("Metadata is a JSON object: names and values between { and }.");
  }
  return value;
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
