import type { GroupSearchResult, SearchResult, Sightline, SightlineIndex } from "../index.ts";
import { type CommandArguments, UsageError } from "./command-arguments.ts";
import { openLocalFile } from "./local-file.ts";
import type { OptionSpec } from "./option.ts";

export const MODES = ["video", "audio", "image", "visual", "speech", "text", "title"] as const;

const DEFAULT_TOP_K = 10;

/** Options of a search, which an export takes, too. */
export const SEARCH_OPTIONS: OptionSpec[] = [
  { name: "image", value: "FILE", isFile: true, description: "Find what looks like an image." },
  { name: "clip", value: "FILE", isFile: true, description: "Find what is like a clip or sound." },
  { name: "from", value: "TIME", description: "Start of the part of the clip: 65 or 1:05." },
  { name: "to", value: "TIME", description: "End of the part of the clip." },
  {
    name: "then",
    value: "TEXT",
    isRepeated: true,
    description: "What comes next in the same video; up to four times.",
  },
  {
    name: "within",
    value: "TIME",
    description: "Longest time between two of them (default 60 seconds).",
  },
  { name: "top-k", value: "N", description: `Number of hits (default ${DEFAULT_TOP_K}).` },
  { name: "top-p", value: "P", description: "Leave out hits with a lower score, 0 to 1." },
  {
    name: "mode",
    value: "MODES",
    description: `Search only these, with commas: ${MODES.join(", ")}.`,
  },
  { name: "all", value: "THINGS", description: "What has to be there, too, with commas." },
  { name: "without", value: "THINGS", description: "What mustn't be there, with commas." },
  {
    name: "scope",
    value: "SECONDS",
    description: "Count what is there, and what isn't, so far around a moment, too.",
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
  const logic = readLogic(args);
  if (image !== undefined || clip !== undefined) {
    refuse(args, "an image or a clip", ["all", "without", "scope"]);
  }
  if (image !== undefined && clip !== undefined) {
    throw new UsageError("Give either --image or --clip.");
  }
  const next = args.texts("then");
  if (next.length > 0) {
    if (image !== undefined || clip !== undefined) {
      throw new UsageError("--then can't be combined with an image or a clip.");
    }
    refuse(args, "a search without --clip", ["from", "to"]);
    return index.search(
      { ...request, ...readSequence(query, next, args), correct: !args.flag("as-written") },
      { signal },
    );
  }
  if (args.text("within") !== undefined) throw new UsageError("--within needs --then.");
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
  if (query === undefined && !logic) {
    throw new UsageError("Give a query, --all, --without, --image FILE or --clip FILE.");
  }
  const words = query === undefined ? {} : { query };
  const correct = !args.flag("as-written");
  return index.search({ ...words, ...logic, ...request, correct }, { signal });
}

/** Reads what has to be there beside the query, or mustn't be; null without. */
function readLogic(args: CommandArguments) {
  const [all, none] = [args.phrases("all"), args.phrases("without")];
  const scope = args.seconds("scope");
  if (!all && !none) {
    refuse(args, "a search without --all or --without", ["scope"]);
    return null;
  }
  return {
    ...(all && { all }),
    ...(none && { none }),
    ...(scope !== undefined && { scope_seconds: scope }),
  };
}

/** Times that `--then` can be given. */
const MAX_NEXT = 4;

/** Makes a sequence of the query and what comes next. */
function readSequence(query: string | undefined, next: string[], args: CommandArguments) {
  if (query === undefined) throw new UsageError("--then needs a query, for what comes first.");
  if (next.length > MAX_NEXT) throw new UsageError(`--then can be given ${MAX_NEXT} times.`);
  const within = args.seconds("within");
  return { sequence: [query, ...next], ...(within !== undefined && { within_seconds: within }) };
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
