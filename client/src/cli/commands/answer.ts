import type { Answer, AnswerEvent, Hit, Sightline, SightlineIndex } from "../../index.ts";
import { type CommandArguments, UsageError } from "../command-arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { notePartial, printHits } from "../hit-table.ts";
import { indexName, SEVERAL_INDICES, severalIndexNames } from "../index-name.ts";
import type { Output } from "../output.ts";
import { formatRange } from "../quantity-format.ts";
import { sanitizeLine, sanitizeText } from "../sanitize.ts";
import { refuse } from "../search-request.ts";

export const answerCommand: Command = {
  name: "ask",
  summary: "Answer a question, with the moments that the answer cites.",
  details: SEVERAL_INDICES,
  parameters: [{ name: "question" }],
  options: [
    { name: "video", value: "ID", description: "Answer from this video only." },
    { name: "from", value: "TIME", description: "Start of the time range: 65 or 1:05." },
    { name: "to", value: "TIME", description: "End of the time range." },
    { name: "images", description: "Show the best keyframes to the model, too." },
    { name: "filter", value: "JSON", description: 'Filter on metadata: {"year": {"$gte": 2024}}.' },
    { name: "top-k", value: "N", description: "Segments that the answer is from, at most." },
    { name: "language", value: "TAG", description: "Language of the answer, such as de." },
    { name: "links", description: "Print the URL of each citation." },
  ],
  examples: [
    { line: 'ask "Who built the cabin?" --index trip', does: "From the whole index" },
    { line: `ask "Who built the cabin?" --index '*'`, does: "From all indices" },
    { line: 'ask "What is she holding?" --index trip --images', does: "With keyframes" },
    {
      line: 'ask "What happens here?" --index trip --video vid_… --from 0:10 --to 0:25',
      does: "From a part of one video",
    },
  ],
  run: answer,
};

async function answer(context: CommandContext): Promise<void> {
  const { args, client, output, signal } = context;
  const names = severalIndexNames(context);
  const sightline = await client();
  const question = names
    ? questionOfSeveral(sightline, names, args)
    : chooseOperation(sightline.index(indexName(context)), args);
  if (output.isJson) {
    output.json(await question.answer({ signal }));
    return;
  }
  let printed = "";
  for await (const event of question.stream({ signal })) {
    if (event.event === "delta") {
      const text = sanitizeText(event.data.text);
      printed += text;
      output.text(text);
    } else if (event.event === "done") {
      if (printed.trim() === "") output.text(sanitizeText(event.data.answer));
      output.line();
      printSources(output, event.data, args.flag("links"));
    }
  }
}

interface Question {
  answer: (options: { signal: AbortSignal }) => Promise<Answer>;
  stream: (options: { signal: AbortSignal }) => AsyncIterable<AnswerEvent>;
}

/** Makes the question of several indices. */
function questionOfSeveral(
  sightline: Sightline,
  index_names: string[],
  args: CommandArguments,
): Question {
  refuse(args, "several indices", ["video", "from", "to"]);
  if (args.flag("images")) throw new UsageError("--images can't be combined with several indices.");
  const request = { index_names, ...readQuestion(args) };
  return {
    answer: (options) => sightline.answer(request, options),
    stream: (options) => sightline.streamAnswer(request, options),
  };
}

function readQuestion(args: CommandArguments) {
  const language = args.text("language");
  const [filter, topK] = [args.object("filter"), args.number("top-k")];
  return {
    query: args.positionals[0]!,
    ...(language !== undefined && { language }),
    ...(filter && { filter: JSON.stringify(filter) }),
    ...(topK !== undefined && { top_k: topK }),
  };
}

/** Chooses between an answer from the index, from its images, and from one video. */
function chooseOperation(index: SightlineIndex, args: CommandArguments): Question {
  const request = readQuestion(args);
  const video = args.text("video");
  const [start, end] = [args.seconds("from"), args.seconds("to")];
  if (video === undefined) {
    if (start !== undefined || end !== undefined)
      throw new UsageError("--from and --to need --video.");
    if (args.flag("images")) {
      return {
        answer: (options) => index.answerFromImages(request, options),
        stream: (options) => index.streamAnswerFromImages(request, options),
      };
    }
    return {
      answer: (options) => index.answer(request, options),
      stream: (options) => index.streamAnswer(request, options),
    };
  }
  if (args.flag("images")) throw new UsageError("--images can't be combined with --video.");
  refuse(args, "--video", ["filter", "top-k"]);
  const part = {
    ...request,
    ...(start !== undefined && { start_time: start }),
    ...(end !== undefined && { end_time: end }),
  };
  return {
    answer: (options) => index.answerVideo(video, part, options),
    stream: (options) => index.streamAnswerVideo(video, part, options),
  };
}

/** Prints who answered, the citations, and the closest moments if nothing answers the question. */
function printSources(output: Output, result: Answer, hasLinks: boolean): void {
  const { citations, related, model, grounded, partial } = result;
  if (partial) notePartial(output, partial);
  const indexOf = (hit: Hit) => (partial ? `${sanitizeLine(hit.index_name)}: ` : "");
  if (grounded) {
    output.line(output.dim(describeAuthor(model)));
    output.line();
  }
  for (const citation of citations) {
    const { marker, title, start_seconds, end_seconds, clip_url } = citation;
    const time = formatRange(start_seconds, end_seconds);
    const link = output.link(time ? "play" : "view", clip_url);
    const gap = output.hasHyperlinks ? "  " : "";
    output.line(
      `[${marker}] ${indexOf(citation)}${sanitizeLine(title)}${time && `  ${time}`}${gap}`,
      link,
    );
    if (hasLinks) output.line(`    ${sanitizeLine(clip_url)}`);
  }
  if (grounded || related.length === 0) return;
  output.line();
  output.line("Closest moments:");
  printHits(output, related, hasLinks, { hasIndexNames: partial !== undefined });
}

/** Says who wrote an answer, from the model's id. */
export function describeAuthor(model: string): string {
  return model === "extractive"
    ? "Quoted without a language model."
    : `Written by the model ${sanitizeLine(model)}.`;
}
