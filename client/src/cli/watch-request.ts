import { basename } from "node:path";
import type { NewWatch, WatchChange, WatchPreview } from "../index.ts";
import { type CommandArguments, UsageError } from "./command-arguments.ts";
import { openLocalFile } from "./local-file.ts";
import type { OptionSpec } from "./option.ts";
import { MODES } from "./search-request.ts";

const ASSET_TYPES = ["video", "image", "audio"] as const;
const NAME_CHARACTERS = 200;

/** Options that say what a watch is for, of a new one and of a preview. */
export const WATCH_OPTIONS: OptionSpec[] = [
  { name: "similar-to", value: "ID", description: "What is like a segment, video or image." },
  { name: "filter", value: "JSON", description: 'Filter on metadata: {"camera": "gate"}.' },
  {
    name: "mode",
    value: "MODES",
    description: `Only this evidence, with commas: ${MODES.join(", ")}.`,
  },
  {
    name: "asset-types",
    value: "TYPES",
    description: `Only these assets, with commas: ${ASSET_TYPES.join(", ")}.`,
  },
  {
    name: "min-probability",
    value: "P",
    description: "Lowest score of a match, 0 to 1 (default 0.9).",
  },
];

/** Reads what to watch for. */
export function readWatchPreview(args: CommandArguments, query: string | undefined): WatchPreview {
  const similarTo = args.text("similar-to");
  const filter = args.object("filter");
  const modes = args.list("mode", MODES);
  const assetTypes = args.list("asset-types", ASSET_TYPES);
  const minProbability = args.number("min-probability");
  return {
    ...(query !== undefined && { query }),
    ...(similarTo !== undefined && { similar_to: similarTo }),
    ...(filter && { filter }),
    ...(modes && { modes }),
    ...(assetTypes && { asset_types: assetTypes }),
    ...(minProbability !== undefined && { min_probability: minProbability }),
  };
}

/** Reads a new watch, which is named after what it is for if no name is given. */
export async function readNewWatch(args: CommandArguments): Promise<NewWatch> {
  const [query] = args.positionals;
  const [image, similarTo] = [args.text("image"), args.text("similar-to")];
  if (image !== undefined && similarTo !== undefined) {
    throw new UsageError("Give either --image or --similar-to.");
  }
  const subject = query ?? (image === undefined ? similarTo : basename(image));
  if (subject === undefined) {
    throw new UsageError("Give a query, --image FILE or --similar-to ID.");
  }
  const webhookUrl = args.text("webhook");
  return {
    name: args.text("name") ?? toName(subject),
    ...readWatchPreview(args, query),
    ...(webhookUrl !== undefined && { webhook_url: webhookUrl }),
    ...(args.flag("paused") && { paused: true }),
    ...(image !== undefined && { image_file: await openLocalFile(image) }),
  };
}

/** Reads what is to be changed of a watch. */
export function readWatchChange(args: CommandArguments): WatchChange {
  const { similar_to: _, ...scope } = readWatchPreview(args, args.text("query"));
  const [name, webhookUrl] = [args.text("name"), args.text("webhook")];
  const change: WatchChange = {
    ...(name !== undefined && { name }),
    ...scope,
    ...(webhookUrl !== undefined && { webhook_url: webhookUrl === "" ? null : webhookUrl }),
  };
  if (Object.keys(change).length > 0) return change;
  throw new UsageError("Say what to change, such as --query TEXT or --min-probability P.");
}

/** Cuts text to the length of a name, without half a surrogate pair at its end. */
function toName(text: string): string {
  if (text.length <= NAME_CHARACTERS) return text;
  return `${text.slice(0, NAME_CHARACTERS - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
