import { type GroupQuestion, requestAnswer, streamAnswer } from "./answers.ts";
import { Indices } from "./indices.ts";
import { Jobs } from "./jobs.ts";
import { Keys } from "./keys.ts";
import { type GroupSearchRequest, searchGroupPages, searchIndices } from "./search.ts";
import { SightlineIndex } from "./sightline-index.ts";
import { type SightlineOptions, Transport } from "./transport.ts";
import type {
  Account,
  Answer,
  AnswerEvent,
  BodyOf,
  GroupExportRequest,
  GroupSearchResult,
  Health,
  Hit,
  QueryOf,
  RequestOptions,
  Stats,
} from "./types.ts";

/** Client of a Sightline service, for one API key. */
export class Sightline {
  readonly indices: Indices;
  readonly jobs: Jobs;
  readonly keys: Keys;
  readonly #transport: Transport;

  constructor(options: SightlineOptions) {
    this.#transport = new Transport(options);
    this.indices = new Indices(this.#transport);
    this.jobs = new Jobs(this.#transport);
    this.keys = new Keys(this.#transport);
  }

  /**
   * Returns the operations of an index, by its name. Requests nothing.
   * @example
   * const { segments } = await sightline.index("trip").search("a red bicycle");
   */
  index(name: string): SightlineIndex {
    return new SightlineIndex(this.#transport, name);
  }

  /**
   * Finds segments in several indices, or with `["*"]` in all of the account. `partial` names those
   * that did not answer.
   * @example
   * const request = { index_names: ["trip", "interviews"], query: "a red bicycle" };
   * const { segments, partial } = await sightline.search(request);
   */
  search(request: GroupSearchRequest, options: RequestOptions = {}): Promise<GroupSearchResult> {
    return searchIndices(this.#transport, request, options);
  }

  /**
   * Returns segments of several indices as a file for a video editor, as `exportCutList` of an
   * index.
   * @example
   * const search = { query: "a red bicycle" };
   * const edl = await sightline.exportCutList({ index_names: ["*"], format: "edl", search });
   */
  exportCutList(request: GroupExportRequest, options: RequestOptions = {}): Promise<string> {
    const sent = { method: "POST", path: ["exports"], json: request, repeatable: "safe" } as const;
    return this.#transport.text(sent, options);
  }

  /**
   * Yields the hits of all pages of a search of several indices.
   * @example
   * const request = { index_names: ["*"], query: "a red bicycle" };
   * for await (const { title } of sightline.searchAll(request)) console.log(title);
   */
  searchAll(request: GroupSearchRequest, options: RequestOptions = {}): AsyncGenerator<Hit> {
    return searchGroupPages(this.#transport, request, options);
  }

  /**
   * Answers a question from speech, text and descriptions in several indices.
   * @example
   * const question = { index_names: ["*"], query: "Who built the cabin?" };
   * const { answer, citations } = await sightline.answer(question);
   */
  answer(question: GroupQuestion, options: RequestOptions = {}): Promise<Answer> {
    return requestAnswer(this.#transport, ["answer"], question, options);
  }

  /**
   * Yields an answer from several indices while it is written.
   * @example
   * const question = { index_names: ["*"], query: "Who is it?" };
   * for await (const { data } of sightline.streamAnswer(question)) console.log(data);
   */
  streamAnswer(question: GroupQuestion, options: RequestOptions = {}): AsyncGenerator<AnswerEvent> {
    return streamAnswer(this.#transport, ["answer"], question, options);
  }

  /**
   * Returns whether the service works; with `deep`, whether each of its parts does.
   * @example
   * const { ok, version } = await sightline.health();
   */
  health(query: QueryOf<"/health", "get"> = {}, options: RequestOptions = {}): Promise<Health> {
    return this.#transport.json({ method: "GET", path: ["health"], query }, options);
  }

  /**
   * Returns the account, and creates it if the key is used for the first time.
   * @example
   * const { account_id, limits } = await sightline.init({ name: "Film archive" });
   */
  init(account: BodyOf<"/init", "post"> = {}, options: RequestOptions = {}): Promise<Account> {
    const request = { method: "POST", path: ["init"], json: account, repeatable: "safe" } as const;
    return this.#transport.json(request, options);
  }

  /**
   * Returns what the account has stored and used.
   * @example
   * const { videos, images, size_bytes } = await sightline.stats();
   */
  stats(options: RequestOptions = {}): Promise<Stats> {
    return this.#transport.json({ method: "GET", path: ["stats"] }, options);
  }
}
