import { formatParameter } from "./command-arguments.ts";
import type { Command } from "./command.ts";
import { GLOBAL_OPTIONS, type OptionSpec } from "./option.ts";
import { wrapWords } from "./wrap-words.ts";

const WIDTH = 96;

/** Formats the list of commands. */
export function formatOverview(commands: readonly Command[]): string {
  const rows = commands.map((command) => [usageOf(command), command.summary] as const);
  return [
    "Usage: sightline <command> [options]",
    "",
    "Search and question answering over your videos and images.",
    "",
    "Commands:",
    ...formatRows(rows),
    "",
    "Options of every command:",
    ...formatOptions(GLOBAL_OPTIONS),
    "",
    "Environment: SIGHTLINE_URL, SIGHTLINE_API_KEY, SIGHTLINE_INDEX, NO_COLOR.",
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 authentication, 130 Ctrl-C.",
    "",
    "sightline <command> --help has the options and examples of a command.",
    "",
  ].join("\n");
}

/** Formats the help of one command. */
export function formatCommandHelp(command: Command): string {
  const details = command.details ? ["", ...wrapWords(command.details, WIDTH)] : [];
  const own = command.options.length > 0 ? ["", "Options:", ...formatOptions(command.options)] : [];
  const examples = command.examples.flatMap(({ line, does }) => [
    `  # ${does}`,
    `  sightline ${line}`,
  ]);
  return [
    `Usage: sightline ${usageOf(command)} [options]`,
    "",
    command.summary,
    ...details,
    ...own,
    "",
    "Options of every command:",
    ...formatOptions(GLOBAL_OPTIONS),
    "",
    "Examples:",
    ...examples,
    "",
  ].join("\n");
}

/** Formats the name and the positional arguments of a command. */
export function usageOf({ name, parameters }: Command): string {
  return [name, ...parameters.map(formatParameter)].join(" ");
}

function formatOptions(options: OptionSpec[]): string[] {
  return formatRows(
    options.map(({ name, short, value, impliedNumber, description, choices }) => {
      const flags = `${short === undefined ? "" : `-${short}, `}--${name}`;
      const text =
        value === undefined ? "" : impliedNumber === undefined ? ` ${value}` : ` [${value}]`;
      const choice = choices ? ` One of ${choices.join(", ")}.` : "";
      return [flags + text, description + choice] as const;
    }),
  );
}

function formatRows(rows: (readonly [string, string])[]): string[] {
  const width = Math.min(34, Math.max(...rows.map(([left]) => left.length)));
  return rows.flatMap(([left, right]) => {
    const [first = "", ...rest] = wrapWords(right, WIDTH - width - 4);
    const lines = rest.map((line) => `  ${" ".repeat(width)}  ${line}`);
    if (left.length > width) return [`  ${left}`, `  ${" ".repeat(width)}  ${first}`, ...lines];
    return [`  ${left.padEnd(width)}  ${first}`, ...lines];
  });
}
