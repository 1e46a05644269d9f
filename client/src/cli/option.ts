/** An option of a command, as the parser, the help and the completions use it. */
export interface OptionSpec {
  /** Name without the dashes. */
  name: string;
  short?: string;
  description: string;
  /** Name of the value in the help; an option without it is a flag. */
  value?: string;
  /** Whether it may be given several times. */
  isRepeated?: boolean;
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

/** Options of every command. */
export const GLOBAL_OPTIONS: OptionSpec[] = [
  { name: "json", description: "Print JSON on stdout, and nothing else." },
  { name: "index", value: "NAME", description: "Name of the index (SIGHTLINE_INDEX)." },
  { name: "url", value: "URL", description: "URL of the service (SIGHTLINE_URL)." },
  { name: "quiet", short: "q", description: "Print results and errors only, no progress." },
  { name: "help", short: "h", description: "Print the help of the command." },
  { name: "version", description: "Print the version." },
];
