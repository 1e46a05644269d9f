import { writeFile } from "node:fs/promises";
import type { SightlineIndex, Video } from "../../index.ts";
import { UsageError } from "../command-arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { type Clip, type ExportedSegment, toClip } from "../export/clip.ts";
import { formatCsv } from "../export/csv.ts";
import { findSegments } from "../export/find-segments.ts";
import { toOtio } from "../export/otio.ts";
import { indexName } from "../index-name.ts";
import { formatJson, sanitizeText } from "../sanitize.ts";
import { runSearch, SEARCH_OPTIONS } from "../search-request.ts";

const FORMATS = ["edl", "csv", "otio"] as const;

export const exportCommand: Command = {
  name: "export",
  summary: "Export hits or segments for a video editor or a spreadsheet.",
  details:
    "Takes a query, or ids of segments. edl is CMX 3600 and otio OpenTimelineIO, each with all " +
    "clips on one track; csv is a table. Images have no time range: only csv lists them.",
  parameters: [
    { name: "format", choices: FORMATS },
    { name: "query|segment-id", isOptional: true, isRepeated: true },
  ],
  options: [
    ...SEARCH_OPTIONS,
    {
      name: "output",
      short: "o",
      value: "PATH",
      isFile: true,
      description: "Write to this file in place of stdout.",
    },
  ],
  examples: [
    { line: 'export otio "two dogs" --index trip > dogs.otio', does: "A timeline of the hits" },
    { line: 'export edl "two dogs" --index trip -o dogs.edl', does: "An edit list of the hits" },
    { line: "export csv seg_… seg_… --index trip", does: "A table of chosen segments" },
  ],
  run: exportSegments,
};

async function exportSegments(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const [format, ...words] = args.positionals;
  const index = (await client()).index(indexName(context));
  const segments = await selectSegments(context, index, words);
  if (segments.length === 0) output.note("Nothing was found.");
  if (format === "csv") return writeText(context, formatCsv(segments), { segments });
  if (format === "otio") {
    const clips = await listClips(index, segments, signal);
    const timeline = toOtio(words.join(" "), clips);
    return writeText(context, `${formatJson(timeline, 2)}\n`, timeline);
  }
  const moments = segments.map(toMoment).filter((moment) => moment !== null);
  if (moments.length === 0) return;
  const text = await index.editList({ moments }, { signal });
  return writeText(context, text, { edl: text });
}

/** Makes a moment of a cut list; null for an image, which has no time range. */
function toMoment({ asset_id, start_seconds, end_seconds }: ExportedSegment) {
  if (start_seconds === null || end_seconds === null) return null;
  return { asset_id, start_seconds, end_seconds };
}

/** Reads ids of segments, or searches. */
async function selectSegments(
  { args, signal }: CommandContext,
  index: SightlineIndex,
  words: string[],
): Promise<ExportedSegment[]> {
  if (words.length > 0 && words.every((word) => /^seg_[0-9A-Z]+$/.test(word))) {
    return findSegments(index, words, signal);
  }
  if (words.length > 1) throw new UsageError("Quote a query of several words.");
  return (await runSearch(index, words[0], args, signal)).segments;
}

/** Makes clips of the segments of videos, with the frame rate of each file. */
async function listClips(
  index: SightlineIndex,
  segments: ExportedSegment[],
  signal: AbortSignal,
): Promise<Clip[]> {
  const ids = new Set(segments.map(({ video_id }) => video_id).filter((id) => id !== null));
  const videos = new Map<string, Video>();
  for (const id of ids) videos.set(id, await index.videos.get(id, { signal }));
  return segments
    .map((segment) => toClip(segment, videos.get(segment.video_id ?? "")))
    .filter((clip) => clip !== null);
}

async function writeText(
  { args, output }: CommandContext,
  text: string,
  json: unknown,
): Promise<void> {
  const file = args.text("output");
  if (file === undefined) {
    output.json(json);
    output.text(text);
    return;
  }
  await writeFile(file, sanitizeText(text));
  output.json({ file });
  output.line(`Wrote ${file}.`);
}
