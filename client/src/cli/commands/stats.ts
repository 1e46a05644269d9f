import type { Stats } from "../../index.ts";
import type { Command, CommandContext } from "../command.ts";
import { formatBytes, formatCount, formatDuration } from "../quantity-format.ts";

export const statsCommand: Command = {
  name: "stats",
  summary: "Print what the account stores, used and cost.",
  parameters: [],
  options: [],
  examples: [
    { line: "stats", does: "A summary" },
    { line: "stats --json | jq .usage.today.estimated_cost_usd", does: "The cost of today" },
  ],
  run: stats,
};

async function stats({ client, output, signal }: CommandContext): Promise<void> {
  const result = await (await client()).stats({ signal });
  output.json(result);
  const { indices, videos, images, segments, states } = result;
  const inProgress = states.queued + states.processing;
  output.line(
    [
      formatCount(indices, "index", "indices"),
      formatCount(videos, "video"),
      formatCount(images, "image"),
      formatCount(segments, "segment"),
    ].join(", "),
  );
  output.line(
    `${formatDuration(result.duration_seconds)} of video, ${formatBytes(result.size_bytes)}`,
  );
  output.line(`${states.ready} ready, ${inProgress} in progress, ${states.failed} failed`);
  output.line();
  const [today, month] = [result.usage.today, sumUsage(result.usage.last_30_days)];
  const rows = [
    ["searches", String(today.searches), String(month.searches)],
    ["answers", String(today.answers), String(month.answers)],
    [
      "video ingested",
      formatDuration(today.ingested_seconds),
      formatDuration(month.ingested_seconds),
    ],
    ["images ingested", String(today.ingested_images), String(month.ingested_images)],
    ["model calls", String(today.model_calls), String(month.model_calls)],
    [
      "estimated cost",
      formatDollars(today.estimated_cost_usd),
      formatDollars(month.estimated_cost_usd),
    ],
  ];
  const numbers = { align: "right" as const };
  output.table(
    [{ title: "" }, { title: "today", ...numbers }, { title: "30 days", ...numbers }],
    rows,
  );
}

type Usage = Pick<
  Stats["usage"]["today"],
  | "searches"
  | "answers"
  | "ingested_seconds"
  | "ingested_images"
  | "model_calls"
  | "estimated_cost_usd"
>;

/** Adds up days of usage. */
export function sumUsage(days: readonly Usage[]): Usage {
  const sum = (field: keyof Usage) => days.reduce((total, day) => total + day[field], 0);
  return {
    searches: sum("searches"),
    answers: sum("answers"),
    ingested_seconds: sum("ingested_seconds"),
    ingested_images: sum("ingested_images"),
    model_calls: sum("model_calls"),
    estimated_cost_usd: sum("estimated_cost_usd"),
  };
}

function formatDollars(amount: number): string {
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}
