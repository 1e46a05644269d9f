import type { Command, CommandContext } from "../command.ts";
import { confirmDeletion } from "../prompt.ts";
import { formatBytes, formatDuration } from "../quantity-format.ts";

const NAME = { name: "name" };

export const indexCommands: Command[] = [
  {
    name: "index create",
    summary: "Create an index.",
    parameters: [NAME],
    options: [
      { name: "description", value: "TEXT", description: "What the index is about." },
      { name: "metadata", value: "JSON", description: "A JSON object stored with the index." },
    ],
    examples: [{ line: "index create holidays", does: "Create an empty index" }],
    run: createIndex,
  },
  {
    name: "index list",
    summary: "List the indices with what they contain.",
    parameters: [],
    options: [],
    examples: [
      { line: "index list", does: "A table of the indices" },
      { line: "index list --json | jq -r '.indices[].index_name'", does: "Their names" },
    ],
    run: listIndices,
  },
  {
    name: "index delete",
    summary: "Delete an index with its videos and images.",
    parameters: [NAME],
    options: [{ name: "yes", short: "y", description: "Don't ask." }],
    examples: [{ line: "index delete holidays --yes", does: "Delete without a question" }],
    run: deleteIndex,
  },
];

async function createIndex({ args, client, output, signal }: CommandContext): Promise<void> {
  const description = args.text("description");
  const metadata = args.object("metadata");
  const index = await (
    await client()
  ).indices.create(
    {
      index_name: args.positionals[0]!,
      ...(description !== undefined && { description }),
      ...(metadata && { metadata }),
    },
    { signal },
  );
  output.line(`Created the index ${index.index_name}.`);
  output.json(index);
}

async function listIndices({ client, output, signal }: CommandContext): Promise<void> {
  const sightline = await client();
  const indices = [];
  for await (const index of sightline.indices.list({ limit: 100 }, { signal })) indices.push(index);
  output.json({ indices, total: indices.length });
  if (indices.length === 0) {
    output.line("There is no index yet: sightline index create <name>");
    return;
  }
  const rows = indices.map(({ index_name, counts, states, duration_seconds, size_bytes }) => [
    index_name,
    String(counts.videos),
    String(counts.images),
    formatDuration(duration_seconds),
    formatBytes(size_bytes),
    [
      states.queued + states.processing > 0 && `${states.queued + states.processing} in progress`,
      states.failed > 0 && `${states.failed} failed`,
    ]
      .filter(Boolean)
      .join(", ") || "ready",
  ]);
  const columns = [
    { title: "index", minWidth: 12 },
    { title: "videos", align: "right" as const },
    { title: "images", align: "right" as const },
    { title: "duration", align: "right" as const },
    { title: "size", align: "right" as const },
    { title: "state" },
  ];
  output.table(columns, rows);
}

async function deleteIndex({ args, client, output, signal }: CommandContext): Promise<void> {
  const name = args.positionals[0]!;
  const sightline = await client();
  if (!args.flag("yes")) {
    const { counts } = await sightline.indices.get(name, { signal });
    const question = `Delete ${name} with ${counts.videos} videos and ${counts.images} images?`;
    const otherwise = `Deleting ${name} can't be undone. Confirm it with --yes.`;
    await confirmDeletion(question, otherwise, signal);
  }
  const job = await sightline.indices.delete(name, { signal });
  output.line(`Deleted the index ${name}. Its files are removed by the job ${job.job_id}.`);
  output.json({ index_name: name, ...job });
}
