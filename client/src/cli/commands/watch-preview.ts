import type { Hit, SearchResult } from "../../index.ts";
import { UsageError } from "../command-arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { noteCalibration, printHits } from "../hit-table.ts";
import { indexName } from "../index-name.ts";
import { waitForJob } from "../job-progress.ts";
import type { Output } from "../output.ts";
import { formatCount } from "../quantity-format.ts";
import { refuse } from "../search-request.ts";
import { readWatchPreview, WATCH_OPTIONS } from "../watch-request.ts";

/** Columns of the longest bar of a day. */
const BAR_WIDTH = 30;
/** Decimals of scores: 0.897 isn't above a threshold of 0.9. */
const SCORE_DIGITS = 3;
/** Days that are printed, the latest ones. */
const MAX_DAYS = 30;

export const previewCommand: Command = {
  name: "watch preview",
  summary: "Print what a watch would have announced: a stored one, or one for a query.",
  details:
    "Choose the threshold by it: look at the segments with scores nearest to --min-probability. To " +
    "preview an image, create its watch with --paused first.",
  parameters: [{ name: "watch-id|query", isOptional: true }],
  options: [...WATCH_OPTIONS, { name: "links", description: "Print the URL of each segment." }],
  examples: [
    { line: 'watch preview "red truck at the gate" --index gate', does: "Before you create it" },
    { line: "watch preview wat_… --index gate", does: "Of a watch" },
    {
      line: "watch preview boat --index gate --json | jq .thresholds",
      does: "How often each threshold is right",
    },
  ],
  run: previewWatch,
};

/** Result of the job. */
interface Preview {
  min_probability: number;
  matches: number;
  matches_by_day: { date: string; matches: number }[];
  thresholds: Threshold[];
  best: Hit[];
  nearest_threshold: Hit[];
  calibration: SearchResult["calibration"];
}

interface Threshold {
  min_probability: number;
  matches: number;
  expected_precision: number | null;
}

async function previewWatch(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const request = readRequest(context);
  const sightline = await client();
  const { watches } = sightline.index(indexName(context));
  const { job_id } = await watches.preview(request, { signal });
  const name = args.positionals[0] ?? args.text("similar-to")!;
  const { result } = await waitForJob(context, sightline, job_id, name);
  output.json(result);
  printPreview(output, result ?? {}, args.flag("links"));
}

/** Reads the id of a watch, or what a new one would be for. */
function readRequest({ args }: CommandContext) {
  const [text] = args.positionals;
  if (text !== undefined && /^wat_\w+$/.test(text)) {
    const options = WATCH_OPTIONS.map((option) => option.name);
    refuse(args, "the id of a watch", options);
    return text;
  }
  if (text === undefined && args.text("similar-to") === undefined) {
    throw new UsageError("Give the id of a watch, a query or --similar-to ID.");
  }
  return readWatchPreview(args, text);
}

function printPreview(output: Output, preview: Partial<Preview>, hasLinks: boolean): void {
  const { matches = 0, min_probability: threshold = 0, best = [] } = preview;
  const { nearest_threshold: nearest = [], thresholds = [], matches_by_day: days = [] } = preview;
  const least = `a score of at least ${threshold}`;
  if (matches > 0) {
    output.line(`${formatCount(matches, "match", "matches")} so far, with ${least}.`);
    output.line();
    printDays(output, days);
    output.line();
    output.line("Best matches:");
    printHits(output, best, hasLinks, { scoreDigits: SCORE_DIGITS });
  } else output.line(`No match so far: nothing has ${least}.`);
  if (nearest.length > 0) {
    output.line();
    output.line(`Nearest to the threshold ${threshold}:`);
    printHits(output, nearest, hasLinks, { scoreDigits: SCORE_DIGITS });
    output.line();
    printThresholds(output, thresholds);
  }
  if (preview.calibration) noteCalibration(output, preview.calibration);
}

/** Prints the numbers of matches by day as bars, without the earliest days of many. */
function printDays(output: Output, days: Preview["matches_by_day"]): void {
  const shown = days.slice(-MAX_DAYS);
  const most = Math.max(...shown.map(({ matches }) => matches));
  const rows = shown.map(({ date, matches }) => [
    date,
    String(matches),
    "█".repeat(Math.max(1, Math.round((BAR_WIDTH * matches) / most))),
  ]);
  const columns = [
    { title: "added (UTC)" },
    { title: "matches", align: "right" as const },
    { title: "" },
  ];
  output.table(columns, rows);
  const rest = days.length - shown.length;
  if (rest > 0) output.line(`and ${formatCount(rest, "earlier day")}`);
}

function printThresholds(output: Output, thresholds: Threshold[]): void {
  const rows = thresholds.map((each) => {
    const { expected_precision: share } = each;
    const expected = share === null ? "" : `${Math.round(100 * share)} %`;
    return [String(each.min_probability), String(each.matches), expected];
  });
  const columns = [
    { title: "score ≥", align: "right" as const },
    { title: "matches", align: "right" as const },
    { title: "expected to be right" },
  ];
  output.table(columns, rows);
}
