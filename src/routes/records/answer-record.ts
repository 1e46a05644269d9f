import { z } from "@hono/zod-openapi";
import type { Answer, AnswerEvent } from "../../answer/compose.ts";
import { linkMarkers } from "../../answer/markdown.ts";
import type { Citation } from "../../answer/sources.ts";
import type { MediaUrlSigner } from "../../http/signed-url.ts";
import { partialField } from "../index-names.ts";
import { hitRecord, toHitRecord } from "./segment-record.ts";

const citation = hitRecord
  .extend({
    marker: z.int().min(1).describe("Number of the citation, as in the answer's `[1]`.").openapi({
      example: 1,
    }),
  })
  .openapi("Citation", { description: "A moment that proves a claim of the answer." });

export const answerRecord = z
  .object({
    answer: z
      .string()
      .describe("The answer, whose claims are marked `[1]`; or that nothing was found.")
      .openapi({ example: "She drops a cup [1]." }),
    grounded: z
      .boolean()
      .describe("Whether the index proves the answer. False: nothing relevant was found.")
      .openapi({ example: true }),
    citations: z.array(citation).describe("A moment for each marker of the answer."),
    related: z
      .array(hitRecord)
      .describe(
        "If the answer isn't grounded, up to five moments that a search finds, best first. They " +
          "aren't proof. Else empty.",
      )
      .openapi({ example: [] }),
    model: z
      .string()
      .describe("Model that wrote the answer. `extractive`: quoted without a language model.")
      .openapi({ example: "@cf/google/gemma-4-26b-a4b-it" }),
    usage: z
      .object({
        input_tokens: z.int().describe("Tokens that the model read.").openapi({ example: 1840 }),
        output_tokens: z.int().describe("Tokens that the model wrote.").openapi({ example: 12 }),
      })
      .describe("Tokens of the language model; 0 without one."),
    partial: partialField
      .optional()
      .describe("Indices that the answer lacks. Only of an answer from several indices."),
  })
  .openapi("Answer", { description: "An answer with its proof." });

const eventOf = <Name extends string, Data extends z.ZodType>(name: Name, data: Data) =>
  z.object({
    event: z.literal(name).describe("Name of the event."),
    data: data.describe("Data of the event, as JSON."),
  });

/** An event of a streamed answer. */
const answerEvent = z
  .union([
    eventOf("citations", z.array(citation)),
    eventOf(
      "delta",
      z.object({ text: z.string().describe("Text to append.").openapi({ example: "She " }) }),
    ),
    eventOf("done", answerRecord),
    eventOf(
      "error",
      z.object({
        code: z.string().describe("Code of the error.").openapi({ example: "upstream_timeout" }),
        detail: z
          .string()
          .describe("What is wrong and what to do, in a sentence.")
          .openapi({ example: "The model didn't answer in time. Retry later." }),
      }),
    ),
  ])
  .openapi("AnswerEvent", {
    description:
      "A server-sent event: `citations` come first, `delta` adds text, and `done` (the whole " +
      "answer) or `error` is the last one.",
  });

/** The answer as server-sent events, with `stream` or by the Accept header. */
export const ANSWER_STREAM = {
  "text/event-stream": {
    schema: answerEvent,
    example: { event: "delta", data: { text: "She drops a cup [1]." } },
  },
};
export type AnswerRecord = z.input<typeof answerRecord>;
type CitationRecord = z.input<typeof citation>;

/** `event` and `data` of a server-sent event. `isFallback` isn't sent: it prevents caching. */
export type AnswerMessage =
  | { event: "citations"; data: CitationRecord[] }
  | { event: "delta"; data: { text: string } }
  | { event: "done"; data: AnswerRecord; isFallback: boolean };

/** Converts an answer's events to API records. With `markdown`, citation markers become links. */
export async function* toMessages(
  events: AsyncGenerator<AnswerEvent>,
  markdown: boolean,
  signUrl: MediaUrlSigner,
): AsyncGenerator<AnswerMessage> {
  const records = new Map<number, CitationRecord>();
  const toRecord = async ({ marker, hit }: Citation) => {
    const record = records.get(marker) ?? { ...(await toHitRecord(hit, signUrl)), marker };
    records.set(marker, record);
    return record;
  };
  const link = (text: string) => {
    return markdown ? linkMarkers(text, (marker) => records.get(marker)?.clip_url ?? null) : text;
  };
  for await (const event of events) {
    if ("citations" in event) {
      yield { event: "citations", data: await Promise.all(event.citations.map(toRecord)) };
    } else if ("delta" in event) {
      yield { event: "delta", data: { text: link(event.delta) } };
    } else {
      const citations = await Promise.all(event.done.citations.map(toRecord));
      const related = await Promise.all(event.done.related.map((hit) => toHitRecord(hit, signUrl)));
      const data = toRecordOf(event.done, link(event.done.text), { citations, related });
      yield { event: "done", data, isFallback: event.done.isFallback };
    }
  }
}

function toRecordOf(
  { grounded, model, usage }: Answer,
  text: string,
  moments: Pick<AnswerRecord, "citations" | "related">,
): AnswerRecord {
  return {
    answer: text,
    grounded,
    ...moments,
    model,
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
  };
}
