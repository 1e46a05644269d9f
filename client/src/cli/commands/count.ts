import type { Aggregate, AggregateRequest } from "../../index.ts";
import { UsageError } from "../command-arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { noteCalibration } from "../hit-table.ts";
import { indexName } from "../index-name.ts";
import { formatCount, formatDuration } from "../quantity-format.ts";
import { MODES } from "../search-request.ts";
import type { Column } from "../table.ts";

const UNITS = ["segments", "seconds", "assets"] as const;

export const countCommand: Command = {
  name: "count",
  summary: "Count what there is, or what a query finds, by groups.",
  details:
    "With a query, the hits whose scores are high enough are counted, 0.5 by default. An image is " +
    "one segment of 0 seconds.",
  parameters: [{ name: "query", isOptional: true }],
  options: [
    {
      name: "by",
      value: "FIELD",
      description:
        "asset, asset_type (default), label, metadata.FIELD, technical.FIELD, taken_at.year, " +
        "taken_at.month or taken_at.day.",
    },
    { name: "unit", value: "UNIT", description: `${UNITS.join(", ")} (default segments).` },
    { name: "top", value: "N", description: "Groups to print (default 20, at most 100)." },
    {
      name: "mode",
      value: "MODES",
      description: `Count only in these, with commas: ${MODES.join(", ")}.`,
    },
    {
      name: "top-p",
      value: "P",
      description: "With a query: lowest score of a hit that counts (default 0.5).",
    },
    { name: "as-written", description: "Don't correct words that no moment has." },
    { name: "filter", value: "JSON", description: 'Filter on metadata: {"year": {"$gte": 2024}}.' },
  ],
  examples: [
    { line: "count --index trip --unit seconds", does: "How long videos are in all" },
    { line: "count --by label --index trip --top 10", does: "The most frequent labels" },
    { line: "count dog --by taken_at.year --unit seconds --index trip", does: "Dogs, by year" },
    { line: "count dog --index trip --json | jq .total", does: "In a script" },
  ],
  run: count,
};

async function count(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const request = readRequest(context);
  const index = (await client()).index(indexName(context));
  const result = await index.aggregate(request, { signal });
  output.json(result);
  const { groups, other, total, unit, query, calibration } = result;
  if (query.corrected !== null) {
    output.note(`Counted "${query.corrected}". With --as-written, words aren't corrected.`);
  }
  const columns: Column[] = [
    { title: args.text("by") ?? "asset_type", minWidth: 16 },
    { title: unit, align: "right" },
  ];
  const toRow = (name: string, counted: Aggregate["total"]) => [
    name,
    formatNumber(unit, counted.count),
  ];
  const rows = groups.map(({ key, title, ...counted }) => toRow(nameOf(title ?? key), counted));
  if (other.groups > 0) rows.push(toRow(`(${formatCount(other.groups, "other")})`, other));
  output.table(columns, [...rows, toRow("(total)", total)]);
  if (request.query !== undefined) noteCalibration(output, calibration);
}

function readRequest({ args }: CommandContext): AggregateRequest {
  const [query] = args.positionals;
  const [groupBy, top, filter] = [args.text("by"), args.number("top"), args.object("filter")];
  const [modes, topP] = [args.list("mode", MODES), args.number("top-p")];
  const unit = UNITS.find((one) => one === (args.text("unit") ?? "segments"));
  if (!unit) throw new UsageError(`--unit takes ${UNITS.join(", ")}.`);
  return {
    unit,
    ...(query !== undefined && { query, correct: !args.flag("as-written") }),
    ...(groupBy !== undefined && { group_by: groupBy }),
    ...(top !== undefined && { top }),
    ...(topP !== undefined && { top_p: topP }),
    ...(modes && { modes }),
    ...(filter && { filter }),
  };
}

function nameOf(key: Aggregate["groups"][number]["key"]): string {
  return key === null ? "(none)" : String(key);
}

function formatNumber(unit: Aggregate["unit"], value: number): string {
  return unit === "seconds" ? formatDuration(value) : String(value);
}
