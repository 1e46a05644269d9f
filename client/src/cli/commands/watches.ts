import type { Watch } from "../../index.ts";
import type { Command, CommandContext } from "../command.ts";
import { indexName } from "../index-name.ts";
import { confirmDeletion } from "../prompt.ts";
import { formatCount } from "../quantity-format.ts";
import { sanitizeLine } from "../sanitize.ts";
import { readNewWatch, readWatchChange, WATCH_OPTIONS } from "../watch-request.ts";
import { previewCommand } from "./watch-preview.ts";
import { tailCommand } from "./watch-tail.ts";

const ID = { name: "watch-id" };

export const watchCommands: Command[] = [
  {
    name: "watch add",
    summary: "Announce each new segment that matches words, an example or an image.",
    details:
      "What was added before doesn't match: watch preview finds that. A match is an event of the " +
      "index, and is sent to --webhook.",
    parameters: [{ name: "query", isOptional: true }],
    options: [
      { name: "name", value: "NAME", description: "Name in events (default: the query)." },
      { name: "image", value: "FILE", isFile: true, description: "What looks like an image." },
      ...WATCH_OPTIONS,
      { name: "webhook", value: "URL", description: "Where its events go, a public https URL." },
      { name: "paused", description: "Don't announce anything yet." },
    ],
    examples: [
      { line: 'watch add "red truck at the gate" --index gate', does: "By words" },
      {
        line: "watch add Sightline --mode speech --min-probability 0.8 --index news",
        does: "By what is said",
      },
      { line: 'watch add --image logo.png --name "Our logo" --index news', does: "By an image" },
    ],
    run: addWatch,
  },
  {
    name: "watch list",
    summary: "List the watches of an index with their numbers of matches.",
    parameters: [],
    options: [],
    examples: [
      { line: "watch list --index gate", does: "A table of the watches" },
      { line: "watch list --index gate --json | jq -r '.watches[].watch_id'", does: "Their ids" },
    ],
    run: listWatches,
  },
  previewCommand,
  tailCommand,
  {
    name: "watch edit",
    summary: "Change what a watch is for, its name, threshold or webhook.",
    details:
      "The change counts for what is added from then on. Matches so far stay. An example can't be " +
      "changed: add another watch.",
    parameters: [ID],
    options: [
      { name: "query", value: "TEXT", description: "Other words to watch for." },
      { name: "name", value: "NAME", description: "Name in events." },
      ...WATCH_OPTIONS.filter(({ name }) => name !== "similar-to"),
      {
        name: "webhook",
        value: "URL",
        description: 'Where its events go; "" for none of its own.',
      },
    ],
    examples: [
      { line: 'watch edit wat_… --query "blue truck" --index gate', does: "Other words" },
      { line: "watch edit wat_… --min-probability 0.8 --index gate", does: "Another threshold" },
    ],
    run: editWatch,
  },
  {
    name: "watch pause",
    summary: "Announce no matches of a watch until it is resumed.",
    parameters: [ID],
    options: [],
    examples: [{ line: "watch pause wat_… --index gate", does: "What comes now won't match" }],
    run: (context) => pauseWatch(context, true),
  },
  {
    name: "watch resume",
    summary: "Announce matches of a paused watch from now on.",
    parameters: [ID],
    options: [],
    examples: [{ line: "watch resume wat_… --index gate", does: "End the pause" }],
    run: (context) => pauseWatch(context, false),
  },
  {
    name: "watch remove",
    summary: "Delete a watch with its list of matches.",
    parameters: [ID],
    options: [{ name: "yes", short: "y", description: "Don't ask." }],
    examples: [
      { line: "watch remove wat_… --index gate --yes", does: "Delete without a question" },
    ],
    run: removeWatch,
  },
];

async function addWatch(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const { watches } = (await client()).index(indexName(context));
  const watch = await watches.create(await readNewWatch(args), { signal });
  const { watch_id: id, paused } = watch;
  output.json(watch);
  output.line(`Created ${describeWatch(watch)}${paused ? ", paused" : ""}.`);
  const index = args.text("index");
  const target = index === undefined ? id : `${id} --index ${index}`;
  output.note(`What it would have found:  sightline watch preview ${target}`);
  if (paused) output.note(`Begin to announce matches: sightline watch resume ${target}`);
  else output.note(`New matches as they come:  sightline watch tail ${target}`);
}

function describeWatch({ watch_id: id, name }: Watch): string {
  return `the watch ${id} (${sanitizeLine(name)})`;
}

async function listWatches(context: CommandContext): Promise<void> {
  const { client, output, signal } = context;
  const index = (await client()).index(indexName(context));
  const watches: Watch[] = [];
  for await (const watch of index.watches.list({ limit: 100 }, { signal })) watches.push(watch);
  output.json({ watches, total: watches.length });
  if (watches.length === 0) {
    output.line("There is no watch yet: sightline watch add <query>");
    return;
  }
  const rows = watches.map((watch) => [
    watch.watch_id,
    watch.name,
    describeRequest(watch),
    String(watch.min_probability),
    String(watch.matches),
    watch.paused ? "paused" : "active",
  ]);
  const columns = [
    { title: "watch" },
    { title: "name", minWidth: 8 },
    { title: "looks for", minWidth: 12 },
    { title: "score ≥", align: "right" as const },
    { title: "matches", align: "right" as const },
    { title: "state" },
  ];
  output.table(columns, rows);
}

/** Describes what a watch is for: words, an example, and in parentheses what restricts it. */
function describeRequest({ query, similar_to, has_image, ...watch }: Watch): string {
  const subjects = [
    query,
    has_image && "an image",
    similar_to !== null && `like ${similar_to}`,
  ].filter(Boolean);
  const restrictions = [
    ...watch.modes,
    ...watch.asset_types,
    ...(Object.keys(watch.filter).length > 0 ? [JSON.stringify(watch.filter)] : []),
  ];
  const suffix = restrictions.length > 0 ? ` (${restrictions.join(", ")})` : "";
  return subjects.join(", ") + suffix;
}

async function editWatch(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const change = readWatchChange(args);
  const { watches } = (await client()).index(indexName(context));
  const watch = await watches.update(args.positionals[0]!, change, { signal });
  output.json(watch);
  output.line(`Changed ${describeWatch(watch)}: ${sanitizeLine(describeRequest(watch))}.`);
}

async function pauseWatch(context: CommandContext, paused: boolean): Promise<void> {
  const { args, client, output, signal } = context;
  const { watches } = (await client()).index(indexName(context));
  const watch = await watches.update(args.positionals[0]!, { paused }, { signal });
  output.json(watch);
  output.line(`${paused ? "Paused" : "Resumed"} ${describeWatch(watch)}.`);
}

async function removeWatch(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const id = args.positionals[0]!;
  const { watches } = (await client()).index(indexName(context));
  if (!args.flag("yes")) {
    const { name, matches } = await watches.get(id, { signal });
    const list = `its list of ${formatCount(matches, "match", "matches")}`;
    const question = `Delete the watch ${sanitizeLine(name)} with ${list}?`;
    const otherwise = `Deleting ${id} can't be undone. Confirm it with --yes.`;
    await confirmDeletion(question, otherwise, signal);
  }
  await watches.delete(id, { signal });
  output.line(`Deleted the watch ${id}. The segments stay.`);
  output.json({ watch_id: id, deleted: true });
}
