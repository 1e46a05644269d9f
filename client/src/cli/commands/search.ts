import type { Hit, IndexResource, SearchResult } from "../../index.ts";
import { openFile } from "../../node.ts";
import { openInBrowser } from "../browser.ts";
import { type CommandArguments, UsageError } from "../command-arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { MissingError } from "../failure.ts";
import { printHits } from "../hit-table.ts";
import { indexName } from "../index-name.ts";

const MODES = ["video", "image", "visual", "speech", "text"] as const;
type Mode = (typeof MODES)[number];

const DEFAULT_TOP_K = 10;

export const searchCommand: Command = {
  name: "search",
  summary: "Find moments by text, an image or a clip.",
  details:
    'In a query, "quotes" require a phrase and -word excludes one. The score is the probability that ' +
    "a hit is relevant. On a terminal that takes links, the word play is one.",
  parameters: [{ name: "query", isOptional: true }],
  options: [
    { name: "image", value: "FILE", isFile: true, description: "Find what looks like an image." },
    { name: "clip", value: "FILE", isFile: true, description: "Find what is like a video clip." },
    { name: "from", value: "TIME", description: "Start of the part of the clip: 65 or 1:05." },
    { name: "to", value: "TIME", description: "End of the part of the clip." },
    { name: "top-k", value: "N", description: `Number of hits (default ${DEFAULT_TOP_K}).` },
    { name: "top-p", value: "P", description: "Leave out hits with a lower score, 0 to 1." },
    {
      name: "mode",
      value: "MODES",
      description: `Search only these, with commas: ${MODES.join(", ")}.`,
    },
    { name: "filter", value: "JSON", description: 'Filter on metadata: {"year": {"$gte": 2024}}.' },
    { name: "links", description: "Print the URL of each hit." },
    {
      name: "open",
      value: "RANK",
      impliedNumber: "1",
      description: "Open a hit in the browser, the best one by default.",
    },
  ],
  examples: [
    { line: 'search "two dogs on a beach" --index trip', does: "By text" },
    { line: 'search "red lighthouse" --index trip --top-p 0.5 --open', does: "Play the best hit" },
    { line: "search --image photo.jpg --index trip", does: "By image" },
    { line: "search --clip clip.mp4 --from 0:02 --to 0:06 --index trip", does: "By clip" },
    { line: "search glacier --index trip --json | jq '.segments[0]'", does: "In a script" },
  ],
  run: search,
};

async function search(context: CommandContext): Promise<void> {
  const { args, client, output, env } = context;
  const rank = args.number("open");
  const index = (await client()).index(indexName(context));
  const result = await runSearch(index, args, context.signal);
  output.json(result);
  if (result.segments.length > 0) printHits(output, result.segments, args.flag("links"));
  else output.line("Nothing was found.");
  if (rank !== undefined) await openInBrowser(hitAt(result.segments, rank).clip_url, env);
}

/** Searches by what the command line gives: text, an image or a clip. */
export async function runSearch(
  index: IndexResource,
  args: CommandArguments,
  signal: AbortSignal,
): Promise<SearchResult> {
  const query = args.positionals[0];
  const [image, clip] = [args.text("image"), args.text("clip")];
  const request = readRequest(args);
  if (image !== undefined && clip !== undefined) {
    throw new UsageError("Give either --image or --clip.");
  }
  if (clip !== undefined) {
    refuse(args, "--clip", ["top-p", "mode", "filter"]);
    if (query !== undefined) throw new UsageError("A clip can't be combined with a text.");
    const [start, end] = [args.seconds("from"), args.seconds("to")];
    const result = await index.searchByVideo(
      {
        video_file: await openFile(clip),
        top_k: request.top_k,
        ...(start !== undefined && { start_seconds: start }),
        ...(end !== undefined && { end_seconds: end }),
      },
      { signal },
    );
    return result;
  }
  refuse(args, "a search without --clip", ["from", "to"]);
  if (image !== undefined) {
    refuse(args, "--image", ["filter"]);
    const { top_k, top_p, modes } = request;
    const example = { image_file: await openFile(image), top_k, ...(query !== undefined && { query }) };
    return index.searchByImage(
      { ...example, ...(top_p !== undefined && { top_p }), ...(modes && { modes }) },
      { signal },
    );
  }
  if (query === undefined) throw new UsageError("Give a query, --image FILE or --clip FILE.");
  return index.search({ query, ...request }, { signal });
}

function readRequest(args: CommandArguments) {
  const topP = args.number("top-p");
  const modes = readModes(args.text("mode"));
  const filter = args.object("filter");
  return {
    top_k: args.number("top-k") ?? DEFAULT_TOP_K,
    ...(topP !== undefined && { top_p: topP }),
    ...(modes && { modes }),
    ...(filter && { filter }),
  };
}

function readModes(text: string | undefined): Mode[] | undefined {
  return text?.split(",").map((name) => {
    const mode = MODES.find((one) => one === name.trim());
    if (!mode) throw new UsageError(`--mode takes ${MODES.join(", ")}, not "${name}".`);
    return mode;
  });
}

function refuse(args: CommandArguments, by: string, options: string[]): void {
  const given = options.find((name) => args.text(name) !== undefined);
  if (given !== undefined) throw new UsageError(`--${given} can't be combined with ${by}.`);
}

function hitAt(hits: Hit[], rank: number): Hit {
  const hit = hits.find((one) => one.rank === rank);
  if (hit) return hit;
  throw new MissingError(`There is no hit with the rank ${rank}: ${hits.length} were found.`);
}
