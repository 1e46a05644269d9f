import type { GroupSearchResult, SearchResult, Sightline, SightlineIndex } from "../index.ts";
import { type CommandArguments, UsageError } from "./command-arguments.ts";
import { openLocalFile } from "./local-file.ts";
import type { OptionSpec } from "./option.ts";

export const MODES = ["video", "audio", "image", "visual", "speech", "text"] as const;

const DEFAULT_TOP_K = 10;

/** Options of a search, which an export takes, too. */
export const SEARCH_OPTIONS: OptionSpec[] = [
  { name: "image", value: "FILE", isFile: true, description: "Find what looks like an image." },
  { name: "clip", value: "FILE", isFile: true, description: "Find what is like a clip or sound." },
  { name: "from", value: "TIME", description: "Start of the part of the clip: 65 or 1:05." },
  { name: "to", value: "TIME", description: "End of the part of the clip." },
  { name: "top-k", value: "N", description: `Number of hits (default ${DEFAULT_TOP_K}).` },
  { name: "top-p", value: "P", description: "Leave out hits with a lower score, 0 to 1." },
  {
    name: "mode",
    value: "MODES",
    description: `Search only these, with commas: ${MODES.join(", ")}.`,
  },
  { name: "as-written", description: "Don't correct words that no moment has." },
  { name: "filter", value: "JSON", description: 'Filter on metadata: {"year": {"$gte": 2024}}.' },
];

/** Searches by what the command line gives: text, an image or a clip. */
export async function runSearch(
  index: SightlineIndex,
  query: string | undefined,
  args: CommandArguments,
  signal: AbortSignal,
): Promise<SearchResult> {
  const [image, clip] = [args.text("image"), args.text("clip")];
  const request = readRequest(args);
  if (image !== undefined && clip !== undefined) {
    throw new UsageError("Give either --image or --clip.");
  }
  if (clip !== undefined) {
    if (query !== undefined) throw new UsageError("A clip can't be combined with a text.");
    const [start, end] = [args.seconds("from"), args.seconds("to")];
    const result = await index.searchByVideo(
      {
        ...request,
        video_file: await openLocalFile(clip),
        ...(start !== undefined && { start_seconds: start }),
        ...(end !== undefined && { end_seconds: end }),
      },
      { signal },
    );
    return result;
  }
  refuse(args, "a search without --clip", ["from", "to"]);
  if (image !== undefined) {
    const image_file = await openLocalFile(image);
    return index.searchByImage(
      { ...request, image_file, ...(query !== undefined && { query }) },
      { signal },
    );
  }
  if (query === undefined) throw new UsageError("Give a query, --image FILE or --clip FILE.");
  return index.search({ query, ...request, correct: !args.flag("as-written") }, { signal });
}

/** Searches several indices by a text. */
export async function runGroupSearch(
  sightline: Sightline,
  index_names: string[],
  query: string | undefined,
  args: CommandArguments,
  signal: AbortSignal,
): Promise<GroupSearchResult> {
  refuse(args, "several indices", ["image", "clip", "from", "to"]);
  if (query === undefined) throw new UsageError("Give a query.");
  const correct = !args.flag("as-written");
  return sightline.search({ index_names, query, ...readRequest(args), correct }, { signal });
}

function readRequest(args: CommandArguments) {
  const topP = args.number("top-p");
  const modes = args.list("mode", MODES);
  const filter = args.object("filter");
  return {
    top_k: args.number("top-k") ?? DEFAULT_TOP_K,
    ...(topP !== undefined && { top_p: topP }),
    ...(modes && { modes }),
    ...(filter && { filter }),
  };
}

/** Throws a `UsageError` if one of the options is given, which need something else. */
export function refuse(args: CommandArguments, by: string, options: string[]): void {
  const given = options.find((name) => args.text(name) !== undefined);
  if (given !== undefined) throw new UsageError(`--${given} can't be combined with ${by}.`);
}
