import { UsageError } from "./command-arguments.ts";
import type { CommandContext } from "./command.ts";

/** Returns the name of the index: `--index`, or SIGHTLINE_INDEX. Throws a `UsageError` without. */
export function indexName({ args, env }: Pick<CommandContext, "args" | "env">): string {
  const name = args.text("index") ?? env["SIGHTLINE_INDEX"];
  if (name) return name;
  throw new UsageError("Name the index with --index NAME, or set SIGHTLINE_INDEX.");
}

/** Explains how `--index` names several. */
export const SEVERAL_INDICES =
  "--index takes several names with commas between them, or '*' for all.";

/** Returns the names in `--index` or SIGHTLINE_INDEX; null for one index. */
export function severalIndexNames(context: Pick<CommandContext, "args" | "env">): string[] | null {
  const names = indexName(context)
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return names.length > 1 || names[0] === "*" ? names : null;
}
