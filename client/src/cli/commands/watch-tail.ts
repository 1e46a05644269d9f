import type { MatchEvent, SightlineIndex } from "../../index.ts";
import { UsageError } from "../command-arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { describeEvidence } from "../evidence-text.ts";
import { indexName } from "../index-name.ts";
import type { Output } from "../output.ts";
import { formatCount, formatRange } from "../quantity-format.ts";
import { sanitizeLine } from "../sanitize.ts";

export const tailCommand: Command = {
  name: "watch tail",
  summary: "Print the matches of one watch or all, as they come.",
  details:
    "A line has the time (UTC), the score, the name of the watch if all are followed, the title, the " +
    "time range, and why it matches. With --json, each line is an event, with its id. Ctrl-C ends it.",
  parameters: [{ name: "watch-id", isOptional: true }],
  options: [
    { name: "since", value: "EVENT-ID", description: "Print first what came after this event." },
  ],
  examples: [
    { line: "watch tail --index gate", does: "All watches of the index" },
    {
      line: "watch tail wat_… --index gate --json | jq --unbuffered -r .data.title",
      does: "In a script",
    },
  ],
  run: tailWatch,
};

async function tailWatch(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const [id] = args.positionals;
  const since = args.text("since");
  if (since !== undefined && !(/^[\w.-]+$/.test(since) && /\d/.test(since))) {
    throw new UsageError(`--since takes the id of an event, as --json prints it, not "${since}".`);
  }
  const index = (await client()).index(indexName(context));
  const subject = await describeFollowed(index, id, signal);
  let isAnnounced = false;
  const onOpen = () => {
    if (!isAnnounced) output.note(`Following ${subject}. Ctrl-C ends this.`);
    isAnnounced = true;
  };
  let lastEventId = since;
  try {
    for await (const event of index.events({ lastEventId, signal, onOpen })) {
      lastEventId = event.id;
      if (event.type === "reset")
        output.note("Matches may be missing: their events are no longer stored.");
      if (event.type !== "watch.matched") continue;
      if (id !== undefined && event.data.watch_id !== id) continue;
      output.json(event);
      printMatches(output, event, id === undefined);
    }
  } catch (error) {
    if (lastEventId !== undefined && !signal.aborted) {
      output.note(`To go on here later, add --since ${lastEventId}`);
    }
    throw error;
  }
}

/** Describes which watches are followed. Throws if there is no such watch or index. */
async function describeFollowed(
  { name, watches }: SightlineIndex,
  id: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (id === undefined) {
    const { total } = await watches.list({ limit: 1 }, { signal });
    return total === 0
      ? `${name}, which has no watch yet`
      : `${formatCount(total, "watch", "watches")} of ${name}`;
  }
  const watch = await watches.get(id, { signal });
  return `${sanitizeLine(watch.name)}${watch.paused ? ", which is paused" : ""}`;
}

/** Prints a line for each match of an event, and one for those that it doesn't list. */
function printMatches(output: Output, { timestamp, data }: MatchEvent, hasName: boolean): void {
  const { title, watch_name: name, matches, total } = data;
  const time = timestamp.replace(/\.\d+Z$/, "Z");
  const rowOf = (score: string, range: string, why: string) => {
    return [time, score, ...(hasName ? [name] : []), title, range, why];
  };
  const rows = matches.map(({ score, start_seconds, end_seconds, evidence }) => {
    const why = describeEvidence({ evidence, caption: "", transcript: "", on_screen_text: "" });
    return rowOf(score.toFixed(2), formatRange(start_seconds, end_seconds), why);
  });
  const rest = total - matches.length;
  if (rest > 0) rows.push(rowOf("", "", `and ${rest} more`));
  const columns = [{}, {}, ...(hasName ? [{ minWidth: 8 }] : []), { minWidth: 12 }, {}];
  output.rows([...columns, { minWidth: 12 }], rows);
}
