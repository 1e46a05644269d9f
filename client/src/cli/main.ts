import { Sightline } from "../index.ts";
import { findCommand, nearestName, parseArguments, UsageError } from "./command-arguments.ts";
import type { Command, CommandContext } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { chooseCredentials, type Credentials, readLogin } from "./config.ts";
import { describeFailure, EXIT, NoKeyError } from "./failure.ts";
import { formatCommandHelp, formatOverview, usageOf } from "./help.ts";
import { Output } from "./output.ts";
import { VERSION } from "./version.ts";

/** Runs a command line and resolves to its exit code. */
async function runCommandLine(argv: string[], signal: AbortSignal): Promise<number> {
  const found = findCommand(COMMANDS, argv);
  if (!found) return runWithoutCommand(argv);
  const { command, words } = found;
  try {
    const args = parseArguments(command, argv.slice(words));
    if (args.flag("help")) return print(formatCommandHelp(command));
    if (args.flag("version")) return print(`${VERSION}\n`);
    const { env } = process;
    const isJson = args.flag("json");
    const output = new Output(process, env, { isJson, isQuiet: args.flag("quiet") });
    const credentials = async () => chooseCredentials(args.text("url"), env, await readLogin(env));
    const context: CommandContext = {
      args,
      output,
      env,
      signal,
      client: async () => openClient(await credentials()),
      serviceUrl: async () => (await credentials()).url,
    };
    return (await command.run(context)) ?? EXIT.done;
  } catch (error) {
    const isInterrupted = error instanceof Error && error.name === "AbortError";
    if (signal.aborted || isInterrupted) return EXIT.interrupted;
    return fail(error, command);
  }
}

function openClient({ url, apiKey }: Credentials): Sightline {
  if (!URL.canParse(url)) throw new UsageError(`"${url}" is no URL of a service.`);
  if (apiKey !== undefined) return new Sightline({ url, apiKey });
  throw new NoKeyError(
    `There is no API key for ${url}. Run \`sightline login --url ${url}\`, or set SIGHTLINE_API_KEY.`,
  );
}

function runWithoutCommand(argv: string[]): number {
  const [first, second] = argv;
  if (first === "--version") return print(`${VERSION}\n`);
  const isHelp = first === undefined || ["--help", "-h", "help"].includes(first);
  if (isHelp) {
    const name = argv
      .slice(1)
      .filter((word) => !word.startsWith("-"))
      .join(" ");
    const command = COMMANDS.find((one) => one.name === name);
    return print(command ? formatCommandHelp(command) : formatOverview(COMMANDS));
  }
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  const isGroupHelp = second === undefined || second === "--help" || second === "-h";
  if (group.length > 0 && isGroupHelp) {
    const usages = group.map((one) => `sightline ${usageOf(one)}`);
    if (second !== undefined) return print(`${usages.join("\n")}\n`);
    process.stderr.write(`Which one? ${usages.join(", ")}\n`);
    return EXIT.usage;
  }
  if (first.startsWith("-")) {
    process.stderr.write(`Put ${first} after the command: sightline search "boats" --index NAME\n`);
    return EXIT.usage;
  }
  const text = group.length > 0 ? `${first} ${second}` : first;
  const near = nearestName(
    text,
    COMMANDS.map(({ name }) => name),
  );
  const hint = near === undefined ? "" : ` Perhaps you mean "${near}".`;
  process.stderr.write(`There is no command "${text}".${hint} See: sightline --help\n`);
  return EXIT.usage;
}

function print(text: string): number {
  process.stdout.write(text);
  return EXIT.done;
}

function fail(error: unknown, command: Command): number {
  const { message, exitCode } = describeFailure(error);
  const hint = error instanceof UsageError ? ` See: sightline ${command.name} --help` : "";
  process.stderr.write(`${message}${hint}\n`);
  return exitCode;
}

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (interruption.signal.aborted) process.exit(EXIT.interrupted);
    interruption.abort();
  });
}
// A reader such as `head` that closes the pipe ends the command without an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? EXIT.done : EXIT.failed);
});
process.exitCode = await runCommandLine(process.argv.slice(2), interruption.signal);
