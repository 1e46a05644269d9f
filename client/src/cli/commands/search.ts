import type { Hit, SearchResult } from "../../index.ts";
import { openInBrowser } from "../browser.ts";
import type { Command, CommandContext } from "../command.ts";
import { MissingError } from "../failure.ts";
import { noteCalibration, notePartial, printHits } from "../hit-table.ts";
import { indexName, SEVERAL_INDICES, severalIndexNames } from "../index-name.ts";
import type { Output } from "../output.ts";
import { sanitizeLine } from "../sanitize.ts";
import { runGroupSearch, runSearch, SEARCH_OPTIONS } from "../search-request.ts";

export const searchCommand: Command = {
  name: "search",
  summary: "Find moments by text, an image or a clip.",
  details:
    'In a query, "quotes" require a phrase and -word excludes one. The score is the probability that ' +
    "a hit is relevant. On a terminal that takes links, the word play is one. " +
    SEVERAL_INDICES,
  parameters: [{ name: "query", isOptional: true }],
  options: [
    ...SEARCH_OPTIONS,
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
    {
      line: 'search "a boat" --then "a lighthouse" --within 30 --index trip',
      does: "One after the other, in one video",
    },
    { line: "search beach --without people,dogs --index trip", does: "One thing without others" },
    { line: 'search "red lighthouse" --index trip,interviews', does: "In two indices" },
    { line: "search --image photo.jpg --index trip", does: "By image" },
    { line: "search --clip clip.mp4 --from 0:02 --to 0:06 --index trip", does: "By clip" },
    { line: "search glacier --index trip --json | jq '.segments[0]'", does: "In a script" },
  ],
  run: search,
};

async function search(context: CommandContext): Promise<void> {
  const { args, client, output, env } = context;
  const rank = args.number("open");
  const query = args.positionals[0];
  const names = severalIndexNames(context);
  const sightline = await client();
  const result = names
    ? await runGroupSearch(sightline, names, query, args, context.signal)
    : await runSearch(sightline.index(indexName(context)), query, args, context.signal);
  output.json(result);
  noteWords(output, result);
  if ("partial" in result) notePartial(output, result.partial);
  if (result.segments.length > 0) {
    printHits(output, result.segments, args.flag("links"), { hasIndexNames: names !== null });
  } else output.line("Nothing was found.");
  noteCalibration(output, result.calibration);
  if (rank !== undefined) await openInBrowser(hitAt(result.segments, rank).clip_url, env);
}

/** Says which words were corrected or excluded. */
function noteWords(output: Output, { query }: Pick<SearchResult, "query">): void {
  const corrected = query?.corrected ?? null;
  if (corrected !== null) {
    output.note(`Searched for "${corrected}". With --as-written, words aren't corrected.`);
  }
  for (const condition of query?.corrected_conditions ?? []) {
    output.note(`Searched for "${condition.corrected}" instead of "${condition.query}".`);
  }
  const suggested = query?.suggested ?? null;
  if (suggested !== null) {
    const words = suggested.query === null ? [] : [JSON.stringify(suggested.query)];
    const parts = [...words, "--without", JSON.stringify(suggested.none.join(", "))];
    output.note(`For what isn't there: search ${parts.map(sanitizeLine).join(" ")}`);
  }
  const excluded = (query?.excluded ?? []).map((word) => `"${word}"`);
  if (excluded.length > 0) output.note(`Without ${excluded.join(", ")}.`);
}

function hitAt(hits: Hit[], rank: number): Hit {
  const hit = hits.find((one) => one.rank === rank);
  if (hit) return hit;
  throw new MissingError(`There is no hit with the rank ${rank}: ${hits.length} were found.`);
}
