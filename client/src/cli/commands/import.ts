import type { SightlineIndex, Job } from "../../index.ts";
import { type CommandArguments, UsageError } from "../command-arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { EXIT } from "../failure.ts";
import { indexName } from "../index-name.ts";
import { waitForJob } from "../job-progress.ts";
import { isWebUrl } from "../output.ts";

const KINDS = ["video", "playlist", "search", "profile"] as const;
const VIDEO_PLATFORMS = ["peertube", "web", "youtube"] as const;
const PHOTO_PLATFORMS = ["instagram", "mastodon", "pixelfed"] as const;

export const importCommand: Command = {
  name: "import",
  summary: "Import a video, playlist, search or profile from a platform.",
  details:
    "Takes the URL of a video, the URL or id of a playlist, the text of a search, or the URL or name " +
    "of a profile. Ends when the items are listed; their files are fetched afterwards.",
  parameters: [{ name: "kind", choices: KINDS }, { name: "url|id|text" }],
  options: [
    { name: "follow", description: "Look for new items with each traversal." },
    { name: "limit", value: "N", description: "Import at most this many items." },
    {
      name: "platform",
      value: "NAME",
      choices: [...VIDEO_PLATFORMS, ...PHOTO_PLATFORMS],
      description: "The platform, if the URL doesn't say.",
    },
    { name: "metadata", value: "JSON", description: "A JSON object stored with each new asset." },
  ],
  examples: [
    {
      line: "import playlist https://peertube.example/c/talks --follow --index talks",
      does: "A channel",
    },
    {
      line: 'import search "tide pools" --platform youtube --limit 5 --index sea',
      does: "A search",
    },
  ],
  run: importFromPlatform,
};

/** One item of a listing, as the job's result has it. */
interface ImportedItem {
  title: string | null;
  url: string | null;
  outcome: string;
  error: { code: string; message: string } | null;
}

async function importFromPlatform(context: CommandContext): Promise<number> {
  const { args, client, output, signal } = context;
  const [kind = "", target = ""] = args.positionals;
  const sightline = await client();
  const { job_id } = await startImport(sightline.index(indexName(context)), args, signal);
  const job = await waitForJob(context, sightline, job_id, `${kind} ${target}`);
  output.json(job);
  const items = itemsOf(job);
  const rows = items.map(({ title, outcome, url, error }) => [
    title ?? url ?? "",
    outcome,
    error ? `${error.code}: ${error.message}` : "",
  ]);
  const columns = [
    { title: "item", minWidth: 20 },
    { title: "outcome" },
    { title: "error", minWidth: 5 },
  ];
  if (rows.length > 0) output.table(columns, rows);
  else output.line("Nothing new was found.");
  output.note("`sightline index list` says what is in progress.");
  return items.some(({ error }) => error !== null) ? EXIT.failed : EXIT.done;
}

function startImport(index: SightlineIndex, args: CommandArguments, signal: AbortSignal) {
  const [kind, target = ""] = args.positionals;
  const limit = args.number("limit");
  const metadata = args.object("metadata");
  const fields = {
    ...(args.flag("follow") && { follow: true }),
    ...(limit !== undefined && { limit }),
    ...(metadata && { metadata }),
  };
  const options = { signal };
  if (kind === "profile") {
    const source = isWebUrl(target) ? { url: target } : { username: target };
    const platform = readPlatform(args, PHOTO_PLATFORMS);
    return index.imports.profile({ ...source, ...fields, ...platform }, options);
  }
  const others = { ...fields, ...readPlatform(args, VIDEO_PLATFORMS) };
  if (kind === "search") return index.imports.search({ query: target, ...others }, options);
  if (kind === "playlist") {
    const source = isWebUrl(target) ? { url: target } : { playlist_id: target };
    return index.imports.playlist({ ...source, ...others }, options);
  }
  if (!isWebUrl(target)) throw new UsageError(`"${target}" must be the URL of a video.`);
  return index.imports.video({ url: target, ...others }, options);
}

function readPlatform<Name extends string>(
  args: CommandArguments,
  names: readonly Name[],
): { platform?: Name } {
  const text = args.text("platform");
  if (text === undefined) return {};
  const platform = names.find((name) => name === text);
  if (platform !== undefined) return { platform };
  throw new UsageError(`--platform must be one of ${names.join(", ")} here, not "${text}".`);
}

function itemsOf({ result }: Job): ImportedItem[] {
  const { items } = (result ?? {}) as { items?: ImportedItem[] };
  return items ?? [];
}
