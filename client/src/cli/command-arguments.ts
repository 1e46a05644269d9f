import { parseArgs } from "node:util";
import { GLOBAL_OPTIONS, type OptionSpec, type ParameterSpec } from "./option.ts";

/** An invalid command line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Values of options by name: text, a flag, or the texts of one that may be given several times. */
type OptionValues = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** The parsed command line of a command. Its getters throw a `UsageError` for invalid values. */
export class CommandArguments {
  readonly positionals: readonly string[];
  readonly #values: OptionValues;

  constructor(positionals: readonly string[], values: OptionValues) {
    this.positionals = positionals;
    this.#values = values;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** Reads all values of an option that may be given several times, in their order. */
  texts(name: string): string[] {
    return [this.#values[name] ?? []].flat().filter((value) => typeof value === "string");
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value)) {
      throw new UsageError(`--${name} must be a number, not "${text}".`);
    }
    return value;
  }

  /** Reads seconds, or a time such as `1:05`. */
  seconds(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined || !text.includes(":")) return this.number(name);
    if (!/^\d+(:[0-5]?\d){1,2}(\.\d+)?$/.test(text)) {
      throw new UsageError(`--${name} must be seconds or a time such as 1:05, not "${text}".`);
    }
    return text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  }

  /** Reads words of a list, with commas between them. */
  list<Word extends string>(name: string, allowed: readonly Word[]): Word[] | undefined {
    return this.text(name)
      ?.split(",")
      .map((text) => {
        const word = allowed.find((one) => one === text.trim());
        if (word !== undefined) return word;
        throw new UsageError(`--${name} takes ${allowed.join(", ")}, not "${text}".`);
      });
  }

  /** Reads texts with commas between them. */
  phrases(name: string): string[] | undefined {
    const phrases = this.text(name)
      ?.split(",")
      .map((text) => text.trim())
      .filter(Boolean);
    if (phrases?.length === 0) throw new UsageError(`--${name} needs a word.`);
    return phrases;
  }

  /** Reads a JSON object. */
  object(name: string): Record<string, unknown> | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = parseJson(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new UsageError(`--${name} must be a JSON object such as {"year": 2024}.`);
    }
    return Object.fromEntries(Object.entries(value));
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Finds the command that a command line begins with, and the number of its words. */
export function findCommand<Command extends { name: string }>(
  commands: readonly Command[],
  argv: readonly string[],
): { command: Command; words: number } | null {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(" ");
    const command = commands.find((one) => one.name === name);
    if (command) return { command, words };
  }
  return null;
}

/** What a command takes. */
interface CommandSyntax {
  parameters: ParameterSpec[];
  options: OptionSpec[];
}

/** Parses what follows the command's name. Throws a `UsageError`. */
export function parseArguments(command: CommandSyntax, argv: readonly string[]): CommandArguments {
  const options = [...command.options, ...GLOBAL_OPTIONS];
  const config = Object.fromEntries(
    options.map(({ name, short, value, isRepeated: multiple = false }) => {
      const type = value === undefined ? ("boolean" as const) : ("string" as const);
      return [name, { type, multiple, ...(short !== undefined && { short }) }];
    }),
  );
  const known = new Set(options.map(({ name }) => name));
  const { values, positionals } = usageErrors(known, () =>
    parseArgs({ args: withImpliedNumbers(options, argv), options: config, allowPositionals: true }),
  );
  const parsed = Object.fromEntries(Object.entries(values));
  requireChoices(options, parsed);
  const args = new CommandArguments(positionals, parsed);
  if (!args.flag("help")) requirePositionals(command, positionals);
  return args;
}

/** Returns the name that differs in at most two letters, dashes aside; undefined without one. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const plain = (text: string) => text.replaceAll("-", "");
  const distances = Array.from(known, (one) => [one, distance(plain(name), plain(one))] as const);
  const [nearest] = distances.toSorted(([, a], [, b]) => a - b);
  return nearest && nearest[1] <= Math.min(2, name.length / 2) ? nearest[0] : undefined;
}

/** Counts the letters to insert, delete or replace (Levenshtein, 1966). */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of a.split("").entries()) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const replaced = previous[j]! + Number(letter !== b[j]);
      row.push(Math.min(replaced, previous[j + 1]! + 1, row[j]! + 1));
    }
    previous = row;
  }
  return previous.at(-1)!;
}

function usageErrors<T>(known: ReadonlySet<string>, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const near = nearestName(/^Unknown option '--([\w-]+)/.exec(message)?.[1] ?? "", known);
    const hint = near === undefined ? "" : ` Perhaps you mean --${near}.`;
    throw new UsageError(message.split(". ")[0]!.replace(/\.?$/, ".") + hint);
  }
}

/** Writes the implied value of options such as `--open`, unless a number follows. */
function withImpliedNumbers(options: OptionSpec[], argv: readonly string[]): string[] {
  const args: string[] = [];
  for (let i = 0; i < argv.length; i += 1) {
    const arg = argv[i]!;
    if (arg === "--") return [...args, ...argv.slice(i)];
    const spec = options.find((one) => one.impliedNumber !== undefined && arg === `--${one.name}`);
    const isNumber = /^\d+$/.test(argv[i + 1] ?? "");
    if (!spec) args.push(arg);
    else args.push(`${arg}=${isNumber ? argv[(i += 1)] : spec.impliedNumber}`);
  }
  return args;
}

function requireChoices(options: OptionSpec[], values: Record<string, unknown>): void {
  for (const { name, choices } of options) {
    const value = values[name];
    if (choices && typeof value === "string" && !choices.includes(value)) {
      throw new UsageError(`--${name} must be one of ${choices.join(", ")}, not "${value}".`);
    }
  }
}

function requirePositionals({ parameters }: CommandSyntax, positionals: string[]): void {
  for (const [i, { name, isOptional, choices }] of parameters.entries()) {
    const value = positionals[i];
    if (value === undefined && !isOptional) throw new UsageError(`<${name}> is missing.`);
    if (value !== undefined && choices && !choices.includes(value)) {
      throw new UsageError(`<${name}> must be one of ${choices.join(", ")}, not "${value}".`);
    }
  }
  const isRepeated = parameters.at(-1)?.isRepeated === true;
  if (!isRepeated && positionals.length > parameters.length) {
    const extra = positionals[parameters.length]!;
    throw new UsageError(`"${extra}" is one argument too many; quote text that has blanks.`);
  }
}

/** Formats a positional argument for a usage line. */
export function formatParameter({ name, isOptional, isRepeated }: ParameterSpec): string {
  const text = `<${name}>${isRepeated ? "…" : ""}`;
  return isOptional ? `[${text}]` : text;
}
