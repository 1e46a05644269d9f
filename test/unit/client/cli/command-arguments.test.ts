import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  findCommand,
  parseArguments,
  UsageError,
} from "../../../../client/src/cli/command-arguments.ts";
import type { Command } from "../../../../client/src/cli/command.ts";
import { COMMANDS } from "../../../../client/src/cli/commands.ts";
import { formatCommandHelp, formatOverview } from "../../../../client/src/cli/help.ts";

function commandNamed(name: string): Command {
  return COMMANDS.find((command) => command.name === name)!;
}

describe("a command line", () => {
  it.each([
    [["index", "create", "trip"], "index create", 2],
    [["search", "boat"], "search", 1],
    [["index"], null, 0],
    [["frob"], null, 0],
    [[], null, 0],
  ])("%j names the command %s", (argv, name, words) => {
    const found = findCommand(COMMANDS, argv);
    expect({ name: found?.command.name ?? null, words: found?.words ?? 0 }).toEqual({
      name,
      words,
    });
  });

  it.each([
    ["search", ["boat", "--top-k", "five"], "--top-k must be a number"],
    ["search", ["two", "dogs"], "too many"],
    ["search", ["--frob"], "--frob"],
    ["search", ["--without", " , "], "--without needs a word"],
    ["search", ["--from", "1:99"], "--from must be seconds or a time"],
    ["add", ["a.mp4", "--metadata", "[1]"], "--metadata must be a JSON object"],
    ["add", [], "<file|folder|url> is missing"],
    ["transcript get", ["vid", "--format", "doc"], "--format must be one of vtt, srt, txt, json"],
    ["completion", ["tcsh"], "<shell> must be one of bash, zsh, fish"],
  ])("of %s with %j is refused: %s", (name, argv, message) => {
    const read = () => {
      const args = parseArguments(commandNamed(name), argv);
      args.number("top-k");
      args.seconds("from");
      args.phrases("without");
      args.object("metadata");
    };
    expect(read).toThrow(UsageError);
    expect(read).toThrow(message);
  });

  it("takes an option several times, in their order, if that may be repeated", () => {
    const argv = ["a boat", "--then", "a lighthouse", "--then=-gulls"];
    const args = parseArguments(commandNamed("search"), argv);
    expect(args.texts("then")).toEqual(["a lighthouse", "-gulls"]);
    expect(parseArguments(commandNamed("search"), ["a boat"]).texts("then")).toEqual([]);
  });

  it.each([
    ["65", 65],
    ["1:05", 65],
    ["1:02:03.5", 3723.5],
  ])("takes the time %s", (text, seconds) => {
    expect(parseArguments(commandNamed("search"), ["--from", text]).seconds("from")).toBe(seconds);
  });

  it.each([
    [["boat", "--open"], 1, ["boat"]],
    [["boat", "--open", "3"], 3, ["boat"]],
    [["--open", "boat"], 1, ["boat"]],
    [["--open=2", "boat"], 2, ["boat"]],
    [["--", "--open"], undefined, ["--open"]],
  ])("%j opens the hit with the rank %s", (argv, rank, positionals) => {
    const args = parseArguments(commandNamed("search"), argv);
    expect(args.number("open")).toBe(rank);
    expect(args.positionals).toEqual(positionals);
  });
});

describe("the help", () => {
  it("lists every command", () => {
    const overview = formatOverview(COMMANDS);
    for (const { name } of COMMANDS) expect(overview).toMatch(new RegExp(`^  ${name}\\b`, "m"));
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    "of %s has its options, and examples that are valid command lines",
    (name, command) => {
      const help = formatCommandHelp(command);
      for (const option of command.options) expect(help).toContain(`--${option.name}`);
      expect(command.examples.length).toBeGreaterThan(0);
      for (const { line } of command.examples) {
        expect(help).toContain(`sightline ${line}`);
        const argv = splitWords(line);
        expect(findCommand(COMMANDS, argv)?.command.name).toBe(name);
        parseArguments(command, argv.slice(name.split(" ").length));
      }
    },
  );
});

it("docs/command-line.md names every command and option", () => {
  const page = readFileSync("docs/command-line.md", "utf8");
  for (const { name, options } of COMMANDS) {
    expect(page).toMatch(new RegExp(`\\b${name}\\b`));
    for (const option of options) expect(page).toContain(`--${option.name}`);
  }
});

/** Splits an example as a shell does, up to a pipe or redirection. */
function splitWords(line: string): string[] {
  const words = line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  const end = words.findIndex((word) => word === "|" || word === ">");
  return (end < 0 ? words : words.slice(0, end)).map((word) =>
    word.replace(/^["'](.*)["']$/, "$1"),
  );
}
