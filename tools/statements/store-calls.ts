import { FIELDS, PARAMETERS } from "./samples.ts";

type StoreFunction = (...values: unknown[]) => unknown;

/** Names of the first parameter of functions that run statements. */
const BINDINGS: ReadonlySet<string> = new Set(["db", "env", "index", "databases"]);

/** Samples by function, where those by the names of its parameters don't do. */
export type Exceptions = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** Whether a module's export runs statements: its first parameter is a binding. */
export function isStoreFunction(value: unknown): value is StoreFunction {
  if (typeof value !== "function" || String(value).startsWith("class")) return false;
  return BINDINGS.has(parametersOf(value as StoreFunction)[0] ?? "");
}

/**
 * Returns the arguments for a function: samples by the names of its parameters, or those of
 * `given`. Throws for a parameter, or a field that it takes, without a sample.
 */
export function argumentsOf(
  work: StoreFunction,
  given: Readonly<Record<string, unknown>>,
): unknown[] {
  const subject = { ...FIELDS, ...given };
  return parametersOf(work).map((parameter) => {
    if (parameter in given) return given[parameter];
    if (!parameter.startsWith("{")) return sampleOf(work.name, parameter, PARAMETERS);
    const fields = parameter.slice(1, -1).split(",");
    const names = fields.map((field) => field.split(/[:=]/)[0]!.trim()).filter(Boolean);
    for (const name of names) if (!(name in given)) sampleOf(work.name, name, FIELDS);
    return subject;
  });
}

function sampleOf(work: string, name: string, samples: Readonly<Record<string, unknown>>): unknown {
  if (name in samples) return samples[name];
  throw new Error(`tools/statements/samples.ts has no sample of "${name}", which ${work} takes`);
}

/** Parameters of a function that have no default value. A pattern has braces. */
function parametersOf(work: StoreFunction): string[] {
  const text = String(work);
  const parameters = [""];
  let depth = 0;
  for (let i = text.indexOf("("); i < text.length; i++) {
    const character = text[i]!;
    if (")}]".includes(character) && --depth === 0) break;
    if (depth === 1 && character === ",") parameters.push("");
    else if (depth > 0) parameters[parameters.length - 1] += character;
    if ("({[".includes(character)) depth++;
  }
  return parameters
    .map((each) => each.trim().replaceAll(/\s+/g, " "))
    .filter((each) => each !== "" && !/^\w+ = /.test(each));
}
