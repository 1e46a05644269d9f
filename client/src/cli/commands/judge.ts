import type { Command, CommandContext } from "../command.ts";
import { indexName } from "../index-name.ts";
import { parseJudgments } from "../judgment-file.ts";
import { readLocalText } from "../local-file.ts";
import { formatCount } from "../quantity-format.ts";
import { runConcurrently } from "../run-concurrently.ts";

/** Judgments that are sent at a time. */
const CONCURRENCY = 4;

export const judgeCommand: Command = {
  name: "judge",
  summary: "Say which results are relevant, and see how good they are.",
  details:
    "Takes a table (CSV) with the columns query or search_id, segment_id and relevant: true or " +
    "false, or empty to remove a judgment. Without a file, only prints how good results are.",
  parameters: [{ name: "file", isOptional: true, isFile: true }],
  options: [],
  examples: [
    { line: "judge judged.csv --index trip", does: "Send the judgments of a table" },
    { line: "judge --index trip --json", does: "Judged and right so far, by score" },
  ],
  run: judge,
};

async function judge(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const [file] = args.positionals;
  const judgments = file === undefined ? [] : parseJudgments(await readLocalText(file));
  const index = (await client()).index(indexName(context));
  await runConcurrently(judgments, CONCURRENCY, async (judgment) => {
    await index.judgments.put(judgment, { signal });
  });
  const quality = await index.judgments.quality({ signal });
  if (file !== undefined) output.line(`Sent ${formatCount(judgments.length, "judgment")}.`);
  output.json({ sent: judgments.length, quality });
  const { judged, right, tenths, calibration } = quality;
  output.line(`${formatCount(judged, "judgment")}, ${right} relevant; calibration: ${calibration}`);
  for (const tenth of tenths) {
    if (tenth.judged === 0) continue;
    output.line(`score from ${tenth.from}: ${tenth.judged} judged, ${tenth.right} relevant`);
  }
}
