import type { Command, CommandContext } from "../command.ts";
import { indexName } from "../index-name.ts";
import { waitForJob } from "../job-progress.ts";
import { openLocalFile } from "../local-file.ts";
import { formatJson } from "../sanitize.ts";

const FORMATS = ["vtt", "srt", "txt", "json"] as const;

export const transcriptCommands: Command[] = [
  {
    name: "transcript get",
    summary: "Print the transcript of a video.",
    parameters: [{ name: "video" }],
    options: [
      {
        name: "format",
        value: "FORMAT",
        choices: FORMATS,
        description: "Format of the transcript (default vtt).",
      },
    ],
    examples: [
      { line: "transcript get vid_… --index trip --format srt > film.srt", does: "As subtitles" },
    ],
    run: getTranscript,
  },
  {
    name: "transcript put",
    summary: "Replace the transcript of a video by a file.",
    details:
      "Takes SRT, WebVTT, TTML, EBU STL, JSON, plain text and others: docs/formats.md. The video must be ready.",
    parameters: [{ name: "video" }, { name: "file", isFile: true }],
    options: [],
    examples: [{ line: "transcript put vid_… film.srt --index trip", does: "From subtitles" }],
    run: putTranscript,
  },
];

async function getTranscript(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const { videos } = (await client()).index(indexName(context));
  const id = args.positionals[0]!;
  const format = FORMATS.find((one) => one === args.text("format")) ?? "vtt";
  if (output.isJson || format === "json") {
    const transcript = await videos.transcript(id, { signal });
    output.json(transcript);
    output.line(formatJson(transcript, 2));
    return;
  }
  const text = await videos.transcriptText(id, format, { signal });
  output.text(text.endsWith("\n") ? text : `${text}\n`);
}

async function putTranscript(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const sightline = await client();
  const [id = "", file = ""] = args.positionals;
  const transcript = await openLocalFile(file);
  const { videos } = sightline.index(indexName(context));
  const updated = await videos.replaceTranscript(id, transcript, { signal });
  await waitForJob(context, sightline, updated.job_id, file);
  output.line(`Replaced the transcript of ${id}: ${updated.cues} cues.`);
  output.json(updated);
}
