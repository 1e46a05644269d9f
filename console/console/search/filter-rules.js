/** Operators of a filter, with the words for them. */
export const OPERATORS = {
  $eq: "is",
  $ne: "is not",
  $in: "is one of",
  $nin: "is none of",
  $gte: "is at least",
  $gt: "is more than",
  $lte: "is at most",
  $lt: "is less than",
};

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;
/** Rules that the API accepts. */
export const MAX_RULES = 16;

/**
 * Builds the `filter` of a search from rules `{ field, operator, value }`, whose values are text.
 * Rules without a field and a value are left out. Throws an error with a sentence for the user.
 */
export function buildFilter(rules) {
  const filter = {};
  for (const { field: text, operator, value } of rules) {
    const field = text.trim();
    if (field === "" && value.trim() === "") continue;
    if (field === "") throw new Error("Name the field of each filter, such as year.");
    const operators = Object.hasOwn(filter, field) ? filter[field] : {};
    if (Object.hasOwn(operators, operator)) {
      throw new Error(`“${field} ${OPERATORS[operator]}” can be used once.`);
    }
    const operand = readOperand(field, operator, value);
    const merged = { ...operators, [operator]: operand };
    Object.defineProperty(filter, field, { value: merged, enumerable: true, configurable: true });
  }
  return filter;
}

function readOperand(field, operator, text) {
  const isList = operator === "$in" || operator === "$nin";
  const values = isList ? splitList(text) : [text.trim()];
  if (values.length === 0 || values[0] === "") throw new Error(`Give a value for “${field}”.`);
  const operands = values.map(readValue);
  if (field === "created_at" && !operands.every((one) => TIME.test(one))) {
    throw new Error("“created_at” needs a day, such as 2026-01-31.");
  }
  if (field === "duration_seconds" && !operands.every((one) => typeof one === "number")) {
    throw new Error("“duration_seconds” needs a number of seconds.");
  }
  return isList ? operands : operands[0];
}

/** Splits at commas that are outside of quotation marks. */
function splitList(text) {
  const items = text.match(/(?:"(?:[^"\\]|\\.)*"|[^,])+/g) ?? [];
  return items.map((item) => item.trim()).filter(Boolean);
}

/** Reads numbers, true, false and null as such. Anything else, and text in quotes, is text. */
function readValue(text) {
  if (/^(-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?|true|false|null|"(?:[^"\\]|\\.)*")$/i.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  return text;
}

/**
 * Returns the whole paths of the folders that a text means: one of that path, else those that end
 * with it, else those that lie below it. Case doesn't matter.
 */
export function findFolders(text, folders) {
  const typed = text
    .trim()
    .replaceAll(/^\/+|\/+$/g, "")
    .toLowerCase();
  const isMeant = [
    (path) => path === `/${typed}`,
    (path) => path.endsWith(`/${typed}`),
    (path) => `${path}/`.includes(`/${typed}/`),
  ];
  const found = isMeant.map((test) => folders.filter((one) => test(`/${one.toLowerCase()}`)));
  return typed === "" ? [] : (found.find((paths) => paths.length > 0) ?? []);
}

/** Returns the rules of a filter, so that `buildFilter` gives the filter back. */
export function listRules(filter) {
  return Object.entries(filter).flatMap(([field, value]) => {
    const operators = isObject(value) ? value : { $eq: value };
    return Object.entries(operators)
      .filter(([operator]) => Object.hasOwn(OPERATORS, operator))
      .map(([operator, operand]) => ({ field, operator, value: formatOperand(operand) }));
  });
}

function formatOperand(operand) {
  return Array.isArray(operand) ? operand.map(formatListItem).join(", ") : formatValue(operand);
}

function formatListItem(value) {
  const text = formatValue(value);
  return typeof value === "string" && /[,"]/.test(value) ? JSON.stringify(value) : text;
}

function formatValue(value) {
  if (typeof value !== "string") return String(value);
  const isPlain = readValue(value) === value && value.trim() === value;
  return isPlain ? value : JSON.stringify(value);
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
