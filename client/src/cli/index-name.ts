import { UsageError } from "./command-arguments.ts";
import type { CommandContext } from "./command.ts";

/** Returns the name of the index: `--index`, or SIGHTLINE_INDEX. Throws a `UsageError` without. */
export function indexName({ args, env }: Pick<CommandContext, "args" | "env">): string {
  const name = args.text("index") ?? env["SIGHTLINE_INDEX"];
  if (name) return name;
  throw new UsageError("Name the index with --index NAME, or set SIGHTLINE_INDEX.");
}
