import { z } from "@hono/zod-openapi";
import type { Answer, AnswerEvent } from "../answer/compose.ts";
import { linkMarkers } from "../answer/markdown.ts";
import type { Citation } from "../answer/sources.ts";
import type { MediaUrlSigner } from "../http/signed-url.ts";
import { hitRecord, toHitRecord } from "./segment-record.ts";

const citation = hitRecord.extend({ marker: z.int().min(1) });

export const answerRecord = z
  .object({
    answer: z.string(),
    grounded: z.boolean(),
    citations: z.array(citation),
    related: z.array(hitRecord).openapi({
      description:
        "If the answer isn't grounded, up to five moments that a search finds, best first. They " +
        "aren't proof. Else empty.",
    }),
    model: z.string(),
    usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }),
  })
  .openapi("Answer");
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
