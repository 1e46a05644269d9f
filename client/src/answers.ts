import type { ApiPath } from "./api-path.ts";
import { ConnectionError, SightlineError } from "./errors.ts";
import { readEvents } from "./server-sent-events.ts";
import type { ApiRequest, Transport } from "./transport.ts";
import type { Answer, AnswerEvent, QueryOf, RequestOptions } from "./types.ts";

export type Question = Omit<QueryOf<"/index/{index_name}/answer", "get">, "stream">;
export type ImageQuestion = Omit<QueryOf<"/index/{index_name}/answer_vqa", "get">, "stream">;
export type GroupQuestion = Omit<QueryOf<"/answer", "get">, "stream">;
export type VideoQuestion = Omit<
  QueryOf<"/index/{index_name}/{video_id}/answer_vqa", "get">,
  "stream"
>;

/** Makes the question of a text. */
export function questionOf<Q extends Question>(question: Q | string): Q {
  return typeof question === "string" ? ({ query: question } as Q) : question;
}

export function requestAnswer(
  transport: Transport,
  path: ApiPath,
  question: Question | GroupQuestion,
  options: RequestOptions,
): Promise<Answer> {
  return transport.json(answerRequest(path, question, false), options);
}

/** Yields the messages of a streamed answer. Throws the error that the service sends. */
export async function* streamAnswer(
  transport: Transport,
  path: ApiPath,
  question: Question | GroupQuestion,
  options: RequestOptions,
): AsyncGenerator<AnswerEvent> {
  const response = await transport.open(answerRequest(path, question, true), options);
  const requestId = response.headers.get("x-request-id") ?? undefined;
  for await (const { event, data } of readEvents(response, transport.signalOf(options.signal))) {
    if (event === "error") {
      const { code, detail } = JSON.parse(data) as { code: string; detail: string };
      throw new SightlineError(detail, { code, requestId });
    }
    yield { event, data: JSON.parse(data) as unknown } as AnswerEvent;
    if (event === "done") return;
  }
  throw new ConnectionError("The answer broke off before its end.");
}

function answerRequest(
  path: ApiPath,
  question: Question | GroupQuestion,
  stream: boolean,
): ApiRequest {
  return { method: "GET", path, query: { ...question, ...(stream && { stream }) } };
}
