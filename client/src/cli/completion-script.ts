import type { Command } from "./command.ts";
import { GLOBAL_OPTIONS, type OptionSpec } from "./option.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** What a shell may complete after some words of a command line. */
export interface CompletionWords {
  /** Words before the cursor that the rest belongs to, such as `index create`. */
  prefix: string;
  words: string[];
  /** Whether files may follow. */
  hasFiles: boolean;
}

/** Returns what may follow each group, command and option with choices. */
export function completionWords(commands: readonly Command[]): CompletionWords[] {
  const groups = new Map<string, string[]>([["", []]]);
  for (const { name } of commands) {
    const [first = "", second] = name.split(" ");
    groups.get("")!.push(first);
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second]);
  }
  const rows = [...groups].map(([prefix, words]) => {
    return { prefix, words: [...new Set(words)], hasFiles: false };
  });
  return [...rows, ...commands.map(wordsOfCommand)];
}

function wordsOfCommand({ name, options, parameters }: Command): CompletionWords {
  const choices = parameters.flatMap((parameter) => parameter.choices ?? []);
  const flags = [...options, ...GLOBAL_OPTIONS].map((option) => `--${option.name}`);
  const hasFiles = parameters.some(({ isFile }) => isFile === true);
  return { prefix: name, words: [...choices, ...flags], hasFiles };
}

/** Makes the completion script of a shell. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](commands);
}

/** Returns the options of all commands that take a value, each once. */
function valueOptions(commands: readonly Command[]): OptionSpec[] {
  const all = [...commands.flatMap(({ options }) => options), ...GLOBAL_OPTIONS];
  const byName = new Map(all.filter(({ value }) => value !== undefined).map((o) => [o.name, o]));
  return [...byName.values()];
}

/** Makes the `case` clauses of the values of options: choices, files, or nothing. */
function valueClauses(commands: readonly Command[], complete: string, files: string): string[] {
  const options = valueOptions(commands);
  const clause = (chosen: OptionSpec[], action: string) =>
    `    ${chosen.map(({ name }) => `--${name}`).join("|")}) ${action}return ;;`;
  const plain = options.filter(({ choices, isFile }) => !choices && !isFile);
  return [
    ...options
      .filter(({ choices }) => choices)
      .map((option) => clause([option], `${complete} '${option.choices!.join(" ")}'; `)),
    clause(
      options.filter(({ isFile }) => isFile),
      `${files}; `,
    ),
    clause(plain, ""),
  ];
}

function wordClauses(commands: readonly Command[], complete: string, files: string): string[] {
  return completionWords(commands).map(({ prefix, words, hasFiles }) => {
    const also = hasFiles ? `; ${files}` : "";
    return `    '${prefix}') ${complete} '${words.join(" ")}'${also} ;;`;
  });
}

/** Returns the first words of commands that have two, as a pattern of `case`. */
function groupNames(commands: readonly Command[]): string {
  const groups = completionWords(commands).filter(
    ({ prefix }) => prefix !== "" && !commands.some(({ name }) => name === prefix),
  );
  return groups.map(({ prefix }) => prefix).join("|");
}

function bashScript(commands: readonly Command[]): string {
  return [
    "# bash completion of sightline",
    '_sightline_words() { COMPREPLY+=($(compgen -W "$1" -- "$current")); }',
    '_sightline_files() { compopt -o filenames; COMPREPLY+=($(compgen -f -- "$current")); }',
    "_sightline() {",
    "  local IFS=$' \\t\\n' current=${COMP_WORDS[COMP_CWORD]} name=''",
    "  COMPREPLY=()",
    "  case ${COMP_WORDS[COMP_CWORD-1]} in",
    ...valueClauses(commands, "_sightline_words", "_sightline_files"),
    "  esac",
    "  (( COMP_CWORD > 1 )) && name=${COMP_WORDS[1]}",
    "  case $name in",
    `    ${groupNames(commands)}) (( COMP_CWORD > 2 )) && name+=" \${COMP_WORDS[2]}" ;;`,
    "  esac",
    "  case $name in",
    ...wordClauses(commands, "_sightline_words", "_sightline_files"),
    "  esac",
    "}",
    "complete -F _sightline sightline",
    "",
  ].join("\n");
}

function zshScript(commands: readonly Command[]): string {
  return [
    "#compdef sightline",
    "_sightline_words() { compadd -- ${=1} }",
    "_sightline() {",
    "  local name=''",
    "  case ${words[CURRENT-1]} in",
    ...valueClauses(commands, "_sightline_words", "_files"),
    "  esac",
    "  (( CURRENT > 2 )) && name=${words[2]}",
    "  case $name in",
    `    ${groupNames(commands)}) (( CURRENT > 3 )) && name+=" \${words[3]}" ;;`,
    "  esac",
    "  case $name in",
    ...wordClauses(commands, "_sightline_words", "_files"),
    "  esac",
    "}",
    // The file is either the completion function itself, found in `fpath`, or sourced.
    'if [[ $funcstack[1] == _sightline ]]; then _sightline "$@"; else compdef _sightline sightline; fi',
    "",
  ].join("\n");
}

function fishScript(commands: readonly Command[]): string {
  const firsts = new Map<string, string>();
  for (const { name, summary } of commands) {
    const [first = "", second] = name.split(" ");
    const others = firsts.get(first);
    firsts.set(first, second === undefined ? summary : others ? `${others}, ${second}` : second);
  }
  const lines = ["# fish completion of sightline", "complete -c sightline -f"];
  for (const [first, summary] of firsts) {
    lines.push(`complete -c sightline -n __fish_use_subcommand -a ${first} -d ${quote(summary)}`);
  }
  for (const command of commands) lines.push(...fishLines(command));
  for (const option of GLOBAL_OPTIONS) lines.push(fishOption(option, ""));
  return `${lines.join("\n")}\n`;
}

function fishLines({ name, summary, options, parameters }: Command): string[] {
  const [first = "", second] = name.split(" ");
  const seen = `__fish_seen_subcommand_from ${first}`;
  const condition =
    second === undefined ? seen : `${seen}; and __fish_seen_subcommand_from ${second}`;
  const lines: string[] = [];
  if (second !== undefined) {
    const isFirst = `${seen}; and test (count (commandline -opc)) -eq 2`;
    lines.push(`complete -c sightline -n ${quote(isFirst)} -a ${second} -d ${quote(summary)}`);
  }
  for (const { choices, isFile } of parameters) {
    const start = `complete -c sightline -n ${quote(condition)}`;
    if (choices) lines.push(`${start} -a ${quote(choices.join(" "))}`);
    if (isFile) lines.push(`${start} -F`);
  }
  return [...lines, ...options.map((option) => fishOption(option, condition))];
}

function fishOption(
  { name, short, value, choices, isFile, description }: OptionSpec,
  condition: string,
): string {
  const parts = ["complete -c sightline"];
  if (condition) parts.push(`-n ${quote(condition)}`);
  parts.push(`-l ${name}`);
  if (short !== undefined) parts.push(`-s ${short}`);
  if (value !== undefined) parts.push(isFile ? "-r -F" : "-x");
  if (choices) parts.push(`-a ${quote(choices.join(" "))}`);
  return [...parts, `-d ${quote(description)}`].join(" ");
}

/** Quotes text for fish. */
function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
}
