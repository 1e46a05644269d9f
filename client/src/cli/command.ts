import type { Sightline } from "../index.ts";
import type { CommandArguments } from "./command-arguments.ts";
import type { Output } from "./output.ts";

/** An option of a command, as the parser, the help and the completions use it. */
export interface OptionSpec {
  /** Name without the dashes. */
  name: string;
  short?: string;
  description: string;
  /** Name of the value in the help; an option without it is a flag. */
  value?: string;
  /** The only values that it takes. */
  choices?: readonly string[];
  /** Value of the option when no number follows it. */
  impliedNumber?: string;
  /** Whether the shell completes the value with files. */
  isFile?: boolean;
}

/** A positional argument. */
export interface ParameterSpec {
  name: string;
  isOptional?: boolean;
  isRepeated?: boolean;
  choices?: readonly string[];
  isFile?: boolean;
}

export interface CommandExample {
  /** The command line after `sightline`. */
  line: string;
  does: string;
}

/** What a command works with. */
export interface CommandContext {
  args: CommandArguments;
  output: Output;
  env: NodeJS.ProcessEnv;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
  /** Opens a client with the key of the environment or the config file. Throws without one. */
  client: () => Promise<Sightline>;
  /** URL of the service. */
  serviceUrl: () => Promise<string>;
}

export interface Command {
  /** One or two words, such as `index create`. */
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** Sentences for the help of this command. */
  details?: string;
  parameters: ParameterSpec[];
  options: OptionSpec[];
  examples: CommandExample[];
  /** Resolves to the exit code, 0 by default. */
  run: (context: CommandContext) => Promise<number | void>;
}

/** Options of every command. */
export const GLOBAL_OPTIONS: OptionSpec[] = [
  { name: "json", description: "Print JSON on stdout, and nothing else." },
  { name: "index", value: "NAME", description: "Name of the index (SIGHTLINE_INDEX)." },
  { name: "url", value: "URL", description: "URL of the service (SIGHTLINE_URL)." },
  { name: "quiet", short: "q", description: "Print results and errors only, no progress." },
  { name: "help", short: "h", description: "Print the help of the command." },
  { name: "version", description: "Print the version." },
];
