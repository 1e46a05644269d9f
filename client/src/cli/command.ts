import type { Sightline } from "../index.ts";
import type { CommandArguments } from "./command-arguments.ts";
import type { Environment } from "./config.ts";
import type { OptionSpec, ParameterSpec } from "./option.ts";
import type { Output } from "./output.ts";

interface CommandExample {
  /** The command line after `sightline`. */
  line: string;
  does: string;
}

/** What a command works with. */
export interface CommandContext {
  args: CommandArguments;
  output: Output;
  env: Environment;
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
