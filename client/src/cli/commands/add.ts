import { basename } from "node:path";
import { type AddedMedia, addLocalFile, type LocalUploads } from "../../add-local-file.ts";
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
} from "../../index.ts";
import { estimateWork } from "../../local-media.ts";
import { StoredCopies } from "../../stored-copies.ts";
import { addUrl } from "../add-url.ts";
import { UsageError } from "../command-arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { configFolder } from "../config.ts";
import { describeFailure, EXIT } from "../failure.ts";
import { indexName } from "../index-name.ts";
import { type MediaKind, type MediaSelection, selectMedia } from "../media-files.ts";
import { IMAGE_EXTENSION } from "../media-kind.ts";
import { ProgressBars } from "../progress-bars.ts";
import { formatClock, formatCount, formatDuration } from "../quantity-format.ts";
import { runConcurrently } from "../run-concurrently.ts";
import { sanitizeLine } from "../sanitize.ts";

const DEFAULT_CONCURRENCY = 4;
const MAX_CONCURRENCY = 16;
/** Skipped files whose names are printed. */
const SKIPPED_NAMES = 5;

export const addCommand: Command = {
  name: "add",
  summary: "Upload files, the files of folders, or URLs, and wait until they are ready.",
  details:
    "Folders are searched for videos and images. Links that lead out of a folder are skipped. A " +
    "transcript with times beside a video (film.srt, film.mp4.srt, film.en.vtt or film.json beside " +
    "film.mp4) goes with it, later, too. Files that the index has aren't uploaded again, and failed " +
    "ones are retried. After Ctrl-C or a break, the same command continues.",
  parameters: [{ name: "file|folder|url", isRepeated: true, isFile: true }],
  options: [
    { name: "create", description: "Create the index if it doesn't exist." },
    { name: "metadata", value: "JSON", description: "A JSON object stored with each new asset." },
    {
      name: "concurrency",
      value: "N",
      description: `Files at a time, 1 to ${MAX_CONCURRENCY} (default ${DEFAULT_CONCURRENCY}).`,
    },
    { name: "type", value: "TYPE", choices: ["video", "image"], description: "What URLs lead to." },
    { name: "follow-links", description: "Follow links that lead out of a folder, too." },
    { name: "no-wait", description: "End when everything is uploaded." },
  ],
  examples: [
    { line: "add ~/Videos/trip --index trip --create", does: "A folder, into a new index" },
    { line: `add talk.mp4 --index talks --metadata '{"year": 2024}'`, does: "With metadata" },
    {
      line: "add https://example.org/a.jpg --index trip",
      does: "A URL, which the service fetches",
    },
  ],
  run: add,
};

/** A file or URL to add. */
interface Task {
  /** Path or URL. */
  source: string;
  name: string;
  /** Work that it is, in images; null if it isn't known. */
  work: number | null;
  add: (
    run: LocalUploads,
    onProgress: (fraction: number, state: string) => void,
  ) => Promise<AddedMedia>;
}

/** What the command prints about a file or URL, in JSON. */
interface Outcome {
  source: string;
  state: string;
  duplicate: boolean;
  asset_id: string | null;
  error: { code: string; message: string } | null;
}

async function add(context: CommandContext): Promise<number> {
  const { args, output } = context;
  const selection = await selectMedia(args.positionals, args.flag("follow-links"));
  const { skipped, refused } = selection;
  if (skipped.length > 0) {
    const names = skipped.slice(0, SKIPPED_NAMES).map((path) => basename(path));
    const more = skipped.length > SKIPPED_NAMES ? ", …" : "";
    const files = formatCount(skipped.length, "other file");
    output.note(`Skipped ${files} of the folders: ${names.join(", ")}${more}`);
  }
  if (refused.length > 0) {
    output.note(`Skipped, too (--follow-links follows the links that lead out of their folder):`);
    for (const { path, reason } of refused) output.note(`  ${sanitizeLine(path)}: it ${reason}`);
  }
  const tasks = listTasks(selection, args.text("type"));
  if (tasks.length === 0) throw new UsageError("There is no video and no image among these files.");
  const concurrency = readConcurrency(args.number("concurrency"));
  const run = await openRun(context);
  const bars = new ProgressBars(output.stderr, output.isQuiet);
  const mean = meanWork(tasks);
  const workOf = ({ work }: Task) => work ?? mean;
  for (const task of tasks) bars.add(task.source, task.name, workOf(task));
  // What takes longest begins first, so that no long video is left to work alone at the end.
  tasks.sort((a, b) => workOf(b) - workOf(a));
  if (run.isWaiting && tasks.length > 1) {
    output.note(`Search what is ready: ${run.serviceUrl}/#/${run.index.name}`);
  }
  const startedAt = Date.now();
  const outcomes: Outcome[] = [];
  try {
    await runConcurrently(tasks, concurrency, async (task) => {
      const outcome = await addTask(run, task, bars);
      outcomes.push(outcome);
      output.json(outcome);
    });
  } catch (error) {
    output.note("Stopped. The same command continues where this one ended.");
    throw error;
  } finally {
    bars.clear();
  }
  printSummary(context, outcomes, (Date.now() - startedAt) / 1000);
  return outcomes.some(({ error }) => error !== null) ? EXIT.failed : EXIT.done;
}

async function openRun(context: CommandContext): Promise<LocalUploads> {
  const { args, env, client, signal } = context;
  const sightline = await client();
  const name = indexName(context);
  if (args.flag("create")) {
    await sightline.indices.create({ index_name: name }, { signal }).catch((error: unknown) => {
      if (!(error instanceof ConflictError)) throw error;
    });
  }
  const index = sightline.index(name);
  await sightline.indices.get(name, { signal }).catch((error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error;
    throw new NotFoundError(`${error.message} Add --create to create it.`, error);
  });
  return {
    sightline,
    index,
    serviceUrl: await context.serviceUrl(),
    copies: new StoredCopies(index, signal),
    metadata: args.object("metadata"),
    isWaiting: !args.flag("no-wait"),
    stateFolder: configFolder(env),
    signal,
  };
}

function listTasks(selection: MediaSelection, type: string | undefined): Task[] {
  const { files, urls, unreadable } = selection;
  return [
    ...unreadable.map((path): Task => {
      const message = "It is neither a video nor an image that the service reads.";
      const add = () => Promise.reject(new Error(message));
      return { source: path, name: basename(path), work: 0, add };
    }),
    ...files.map((media): Task => {
      const { path, name } = media;
      const work = estimateWork(media);
      return { source: path, name, work, add: (run, report) => addLocalFile(run, media, report) };
    }),
    ...urls.map((url): Task => {
      const kind = type === "video" || type === "image" ? type : kindOfUrl(url);
      return {
        source: url,
        name: url,
        work: null,
        add: (run, report) => addUrl(run, url, kind, report),
      };
    }),
  ];
}

/** Guesses from its extension what a URL leads to. */
function kindOfUrl(url: string): MediaKind {
  return IMAGE_EXTENSION.test(new URL(url).pathname) ? "image" : "video";
}

function readConcurrency(value: number | undefined): number {
  const concurrency = value ?? DEFAULT_CONCURRENCY;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY) {
    throw new UsageError(`--concurrency must be 1 to ${MAX_CONCURRENCY}.`);
  }
  return concurrency;
}

/** Returns the mean work of the files, which stands for the unknown work of a URL. */
function meanWork(tasks: readonly Task[]): number {
  const known = tasks.flatMap(({ work }) => work ?? []);
  return known.length > 0 ? Math.max(1, known.reduce((a, b) => a + b) / known.length) : 1;
}

/** Adds one file or URL. Errors that concern only it are its outcome; others are thrown. */
async function addTask(run: LocalUploads, task: Task, bars: ProgressBars): Promise<Outcome> {
  const { source } = task;
  try {
    const added = await task.add(run, (fraction, state) => bars.update(source, fraction, state));
    const { asset, isDuplicate } = added;
    bars.finish(source, describeAdded(added));
    const { asset_id, state, error } = asset;
    return { source, state, duplicate: isDuplicate, asset_id, error };
  } catch (error) {
    const isFatal =
      error instanceof AuthenticationError ||
      error instanceof PermissionError ||
      error instanceof ConnectionError;
    run.signal.throwIfAborted();
    if (isFatal) throw error;
    const { message } = describeFailure(error);
    bars.finish(source, `✘ ${message}`);
    const code = error instanceof Error && "code" in error ? String(error.code) : "error";
    return { source, state: "failed", duplicate: false, asset_id: null, error: { code, message } };
  }
}

function describeAdded({ asset, isDuplicate, isTranscriptMissing }: AddedMedia): string {
  const { state, error, duration_seconds, segments, title, asset_id, warnings } = asset;
  if (error) return `✘ ${error.code}: ${error.message}`;
  const duplicate = isDuplicate ? `, in the index already as ${title} (${asset_id})` : "";
  const length = duration_seconds === null ? "" : `, ${formatClock(duration_seconds)}`;
  const parts =
    state === "ready" && asset.asset_type === "video"
      ? `, ${formatCount(segments, "segment")}`
      : "";
  const transcript = isTranscriptMissing ? ", without its transcript: run the command again" : "";
  const notes = warnings.map(({ code, message }) => `, but ${code}: ${message}`).join("");
  return `✔ ${state}${length}${parts}${duplicate}${notes}${transcript}`;
}

function printSummary({ output }: CommandContext, outcomes: Outcome[], seconds: number): void {
  const failed = outcomes.filter(({ error }) => error !== null);
  const duplicates = outcomes.filter(({ duplicate }) => duplicate).length;
  const added = formatCount(outcomes.length - failed.length - duplicates, "file");
  const copies = duplicates > 0 ? ` ${formatCount(duplicates, "was", "were")} in the index.` : "";
  output.line(`Added ${added} in ${formatDuration(seconds)}.${copies}`);
  if (failed.length === 0) return;
  output.line(`${formatCount(failed.length, "file")} failed:`);
  for (const { source, error } of failed) {
    output.line(`  ${sanitizeLine(source)}`);
    output.line(`    ${error!.code}: ${sanitizeLine(error!.message)}`);
  }
  output.line("Resolve the cause, then run the same command again: it retries only these.");
}
