import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { ExportRequest, SightlineIndex } from "../../index.ts";
import { linksOutOfFolder } from "../../list-files.ts";
import { UsageError } from "../command-arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { type ExportedSegment, formatCsv } from "../export/csv.ts";
import { findSegments } from "../export/find-segments.ts";
import { indexName } from "../index-name.ts";
import { sanitizeText } from "../sanitize.ts";
import { runSearch, SEARCH_OPTIONS } from "../search-request.ts";

const FORMATS = [
  "edl",
  "fcpxml",
  "premiere_xml",
  "otio",
  "markers_csv",
  "markers_edl",
  "chapters",
  "chapters_vtt",
  "csv",
] as const satisfies (ExportRequest["format"] | "csv")[];

export const exportCommand: Command = {
  name: "export",
  summary: "Export hits or segments for a video editor or a spreadsheet.",
  details:
    "Takes a query, or ids of segments. csv is a table of them; the others are files for editors, " +
    "with the segments one after the other (docs/search.md#exports).",
  parameters: [
    { name: "format", choices: FORMATS },
    { name: "query|segment-id", isOptional: true, isRepeated: true },
  ],
  options: [
    ...SEARCH_OPTIONS,
    { name: "title", value: "TEXT", description: "Title of the timeline (default: the query)." },
    { name: "fps", value: "RATE", description: "Frames a second of the timeline." },
    {
      name: "handles",
      value: "SECONDS",
      description: "How much longer each cut is at either end.",
    },
    { name: "urls", description: "Refer to files by URLs that work for an hour." },
    {
      name: "output",
      short: "o",
      value: "PATH",
      isFile: true,
      description: "Write to this file in place of stdout.",
    },
  ],
  examples: [
    { line: 'export fcpxml "two dogs" --index trip > dogs.fcpxml', does: "A timeline of the hits" },
    { line: 'export edl "two dogs" --index trip -o dogs.edl', does: "An edit list of the hits" },
    { line: "export csv seg_… seg_… --index trip", does: "A table of chosen segments" },
  ],
  run: exportSegments,
};

async function exportSegments(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const [name, ...words] = args.positionals;
  const format = FORMATS.find((one) => one === name)!;
  const index = (await client()).index(indexName(context));
  const chosen = format !== "csv" && areIds(words) ? words.map((id) => ({ segment_id: id })) : null;
  const segments = chosen ?? (await selectSegments(context, index, words));
  if (segments.length === 0) output.note("Nothing was found.");
  if (format === "csv") {
    const listed = segments as ExportedSegment[];
    return writeText(context, formatCsv(listed), { segments: listed });
  }
  if (segments.length === 0) return;
  const [fps, handles] = [args.number("fps"), args.number("handles")];
  const request: ExportRequest = {
    format,
    segments: segments.map(toCut),
    title: args.text("title") ?? (chosen ? index.name : (words[0] ?? index.name)),
    ...(fps !== undefined && { fps }),
    ...(handles !== undefined && { handles_seconds: handles }),
    ...(args.flag("urls") && { media: "url" as const }),
  };
  const text = await index.exportCutList(request, { signal });
  return writeText(context, text, { [format]: text });
}

/** Makes a part of a cut list, with why it was found for its marker. */
function toCut({
  segment_id,
  start_seconds: start = null,
  end_seconds: end = null,
  score,
  evidence = [],
}: Partial<ExportedSegment> & Pick<ExportedSegment, "segment_id">) {
  const kinds = evidence.map((one) => `${one.kind} ${one.score.toFixed(2)}`).join(", ");
  return {
    segment_id,
    ...(start !== null && end !== null && { start_seconds: start, end_seconds: end }),
    ...(score !== undefined && { score, note: `Score ${score.toFixed(2)}: ${kinds}` }),
  };
}

const areIds = (words: string[]) =>
  words.length > 0 && words.every((word) => /^seg_[0-9A-Z]+$/.test(word));

/** Reads ids of segments, or searches. */
async function selectSegments(
  { args, signal }: CommandContext,
  index: SightlineIndex,
  words: string[],
): Promise<ExportedSegment[]> {
  if (areIds(words)) return findSegments(index, words, signal);
  if (words.length > 1) throw new UsageError("Quote a query of several words.");
  return (await runSearch(index, words[0], args, signal)).segments;
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
  if (await linksOutOfFolder(file)) {
    throw new UsageError(`${file} is a link out of its folder. Name the file that it leads to.`);
  }
  await writeFile(file, sanitizeText(text)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new UsageError(`There is no folder "${dirname(file)}": create it first.`);
  });
  output.json({ file });
  output.line(`Wrote ${file}.`);
}
