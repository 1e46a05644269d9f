/** Limits of D1 and of the databases of objects that a local one doesn't have. */
const MAX_PARAMETER_BYTES = 2_000_000;
const MAX_ARGUMENTS = 32;

const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*/g;
/** A call without calls in its arguments. Lists of columns and values aren't calls. */
const CALL = /(?<!\b(?:INTO|TABLE|INDEX|ON|REFERENCES|VIRTUAL|USING)\s+)\b([a-z]\w*)\(([^()]*)\)/gi;
const LISTS = /^(?:VALUES|IN|AS|SET|KEY|UNIQUE)$/i;

/** Throws what the platform throws for a statement with too many arguments of a function. */
export function refuseArguments(statement: string): void {
  let text = statement.replaceAll(QUOTED, "''");
  for (let before = ""; text !== before;) {
    before = text;
    text = text.replaceAll(CALL, (_, name: string, list: string) => {
      if (list.split(",").length > MAX_ARGUMENTS && !LISTS.test(name)) {
        throw new Error(`D1_ERROR: too many arguments on function ${name}: SQLITE_ERROR`);
      }
      return name;
    });
    text = text.replaceAll(/(?<!\w)\([^()]*\)/g, "0");
  }
}

/** Throws what the platform throws for a parameter that is too large. */
export function refuseParameters(values: readonly unknown[]): void {
  const isLarge = values.some((value) => sizeOf(value) > MAX_PARAMETER_BYTES);
  if (isLarge) throw new Error("D1_ERROR: string or blob too big: SQLITE_TOOBIG");
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value) ? value.byteLength : 0;
}
