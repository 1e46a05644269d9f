import {
  type ImageQuestion,
  type Question,
  questionOf,
  requestAnswer,
  streamAnswer,
  type VideoQuestion,
} from "./answers.ts";
import { Images } from "./images.ts";
import { Imports } from "./imports.ts";
import { type EventOptions, followEvents } from "./index-events.ts";
import { listOf, type Page, type PageResult } from "./page.ts";
import {
  type ImageSearchRequest,
  search,
  searchByImage,
  searchByVideo,
  searchPages,
  type SearchRequest,
  type VideoSearchRequest,
} from "./search.ts";
import { Sources } from "./sources.ts";
import type { Transport } from "./transport.ts";
import type {
  AddedAsset,
  Answer,
  AnswerEvent,
  Asset,
  Hit,
  IndexEvent,
  Node,
  PageQuery,
  QueryOf,
  QueuedJob,
  RequestOptions,
  SearchResult,
  Traversal,
  TraversalPage,
} from "./types.ts";
import { uploadFile, type UploadOptions } from "./upload.ts";
import { Uploads } from "./uploads.ts";
import { Videos } from "./videos.ts";
import { type WaitOptions, waitUntilReady } from "./wait-until-ready.ts";
import { Webhook } from "./webhook.ts";

/** One index, by its name. Making this object requests nothing. */
export class SightlineIndex {
  readonly name: string;
  readonly videos: Videos;
  readonly images: Images;
  readonly imports: Imports;
  readonly sources: Sources;
  readonly uploads: Uploads;
  readonly webhook: Webhook;
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, name: string) {
    this.name = name;
    this.#transport = transport;
    this.#path = `/index/${encodeURIComponent(name)}`;
    this.videos = new Videos(transport, this.#path, "video");
    this.images = new Images(transport, this.#path, "image");
    this.imports = new Imports(transport, this.#path);
    this.sources = new Sources(transport, this.#path);
    this.uploads = new Uploads(transport, this.#path);
    this.webhook = new Webhook(transport, this.#path);
  }

  assets(
    query: QueryOf<"/index/{index_name}", "get"> = {},
    options: RequestOptions = {},
  ): Page<Asset> {
    return listOf(this.#transport, this.#path, "assets", query, options);
  }

  /** Uploads a file of any size in several requests, which continue after a break (tus). */
  upload(file: Blob, options: UploadOptions): Promise<AddedAsset> {
    return uploadFile(this.#transport, this.#path, file, options);
  }

  /**
   * Waits until all assets are ready, and returns their records. Throws an `IngestFailedError` as
   * soon as one has failed.
   */
  waitUntilReady(
    assetIds: string | readonly string[],
    options: WaitOptions = {},
  ): Promise<Asset[]> {
    return waitUntilReady(this.#transport, this.#path, [assetIds].flat(), options);
  }

  search(query: string | SearchRequest, options: RequestOptions = {}): Promise<SearchResult> {
    return search(this.#transport, this.#path, searchOf(query), options);
  }

  /** Yields the hits of all pages. */
  searchAll(query: string | SearchRequest, options: RequestOptions = {}): AsyncGenerator<Hit> {
    return searchPages(this.#transport, this.#path, searchOf(query), options);
  }

  searchByImage(request: ImageSearchRequest, options: RequestOptions = {}): Promise<SearchResult> {
    return searchByImage(this.#transport, this.#path, request, options);
  }

  searchByVideo(request: VideoSearchRequest, options: RequestOptions = {}): Promise<SearchResult> {
    return searchByVideo(this.#transport, this.#path, request, options);
  }

  /** Answers a question from speech, text and descriptions. */
  answer(question: string | Question, options: RequestOptions = {}): Promise<Answer> {
    return requestAnswer(this.#transport, `${this.#path}/answer`, questionOf(question), options);
  }

  /** Answers a question by looking at keyframes and images. */
  answerFromImages(
    question: string | ImageQuestion,
    options: RequestOptions = {},
  ): Promise<Answer> {
    const path = `${this.#path}/answer_vqa`;
    return requestAnswer(this.#transport, path, questionOf(question), options);
  }

  /** Answers a question about a video, or a time range of it. */
  answerVideo(
    videoId: string,
    question: string | VideoQuestion,
    options: RequestOptions = {},
  ): Promise<Answer> {
    const path = this.#videoAnswerPath(videoId);
    return requestAnswer(this.#transport, path, questionOf(question), options);
  }

  streamAnswer(
    question: string | Question,
    options: RequestOptions = {},
  ): AsyncGenerator<AnswerEvent> {
    return streamAnswer(this.#transport, `${this.#path}/answer`, questionOf(question), options);
  }

  streamAnswerFromImages(
    question: string | ImageQuestion,
    options: RequestOptions = {},
  ): AsyncGenerator<AnswerEvent> {
    const path = `${this.#path}/answer_vqa`;
    return streamAnswer(this.#transport, path, questionOf(question), options);
  }

  streamAnswerVideo(
    videoId: string,
    question: string | VideoQuestion,
    options: RequestOptions = {},
  ): AsyncGenerator<AnswerEvent> {
    const path = this.#videoAnswerPath(videoId);
    return streamAnswer(this.#transport, path, questionOf(question), options);
  }

  /**
   * Lists assets with their segments and what is wrong with them. The last page has the `health` of
   * the index itself. Changes nothing.
   */
  traverse(query: PageQuery = {}, options: RequestOptions = {}): Page<Node, NodesPage> {
    return listOf(this.#transport, `${this.#path}/traverse`, "nodes", query, options);
  }

  /** Starts a job that repairs what a traversal finds and imports what is new in sources. */
  repair(options: RequestOptions = {}): Promise<Traversal> {
    const request = { method: "POST", path: `${this.#path}/traverse` } as const;
    return this.#transport.json(request, options);
  }

  /** Exports the index as lines of JSON (docs/backup.md). */
  async export(
    query: QueryOf<"/index/{index_name}/export", "get"> = {},
    options: RequestOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const request = { method: "GET", path: `${this.#path}/export`, query } as const;
    return (await this.#transport.open(request, options)).body!;
  }

  /** Imports an export, of another deployment or account, too. */
  importArchive(
    archive: Blob | ReadableStream<Uint8Array>,
    options: RequestOptions = {},
  ): Promise<QueuedJob> {
    const path = `${this.#path}/import-archive`;
    const headers = { "Content-Type": "application/x-ndjson" };
    return this.#transport.json({ method: "POST", path, body: archive, headers }, options);
  }

  /** Yields what happens to the assets, until the signal aborts or the consumer stops. */
  events(options: EventOptions = {}): AsyncGenerator<IndexEvent> {
    return followEvents(this.#transport, this.#path, options);
  }

  #videoAnswerPath(videoId: string): string {
    return `${this.#path}/${encodeURIComponent(videoId)}/answer_vqa`;
  }
}

/** A page of a traversal, with its nodes as `items`. */
export type NodesPage = PageResult<Node> & Omit<TraversalPage, "nodes">;

function searchOf(query: string | SearchRequest): SearchRequest {
  return typeof query === "string" ? { query } : query;
}
