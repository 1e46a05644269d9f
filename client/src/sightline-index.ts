import {
  type ImageQuestion,
  type Question,
  questionOf,
  requestAnswer,
  streamAnswer,
  type VideoQuestion,
} from "./answers.ts";
import type { ApiPath } from "./api-path.ts";
import * as archives from "./archives.ts";
import { Images } from "./images.ts";
import { Imports } from "./imports.ts";
import { type EventOptions, followEvents } from "./index-events.ts";
import { Judgments } from "./judgments.ts";
import { listOf, type NodesPage, type Page } from "./page.ts";
import {
  aggregate,
  type ImageSearchRequest,
  search,
  searchByImage,
  searchByVideo,
  searchOf,
  searchPages,
  type SearchRequest,
  type VideoSearchRequest,
} from "./search.ts";
import { Sources } from "./sources.ts";
import type { Transport } from "./transport.ts";
import type {
  AddedAsset,
  Aggregate,
  AggregateRequest,
  Answer,
  AnswerEvent,
  Asset,
  CutList,
  ExportRequest,
  Hit,
  IndexEvent,
  Node,
  PageQuery,
  QueryOf,
  QueuedJob,
  RequestOptions,
  SearchResult,
  Traversal,
} from "./types.ts";
import { uploadFile, type UploadOptions } from "./upload.ts";
import { Uploads } from "./uploads.ts";
import { Videos } from "./videos.ts";
import { type WaitOptions, waitUntilReady } from "./wait-until-ready.ts";
import { Watches } from "./watches.ts";
import { Webhook } from "./webhook.ts";

/** One index, by its name. Making this object requests nothing. */
export class SightlineIndex {
  readonly name: string;
  readonly videos: Videos;
  readonly images: Images;
  readonly imports: Imports;
  readonly judgments: Judgments;
  readonly sources: Sources;
  readonly uploads: Uploads;
  readonly watches: Watches;
  readonly webhook: Webhook;
  readonly #transport: Transport;
  readonly #path: ApiPath;

  constructor(transport: Transport, name: string) {
    this.name = name;
    this.#transport = transport;
    this.#path = ["index", name];
    this.videos = new Videos(transport, this.#path, "video");
    this.images = new Images(transport, this.#path, "image");
    this.imports = new Imports(transport, this.#path);
    this.judgments = new Judgments(transport, this.#path);
    this.sources = new Sources(transport, this.#path);
    this.uploads = new Uploads(transport, this.#path);
    this.watches = new Watches(transport, this.#path);
    this.webhook = new Webhook(transport, this.#path);
  }

  /**
   * Lists the videos and images, oldest first.
   * @example
   * for await (const { title } of index.assets({ state: "failed" })) console.log(title);
   */
  assets(
    query: QueryOf<"/index/{index_name}", "get"> = {},
    options: RequestOptions = {},
  ): Page<Asset> {
    return listOf(this.#transport, this.#path, "assets", query, options);
  }

  /**
   * Uploads a file of any size in several requests, which continue after a break (tus).
   * @example
   * const asset = await index.upload(file, { name: "long film.mp4", onProgress: console.log });
   */
  upload(file: Blob, options: UploadOptions): Promise<AddedAsset> {
    return uploadFile(this.#transport, this.#path, file, options);
  }

  /**
   * Waits until all assets are ready, and returns their records. Throws an `IngestFailedError` as
   * soon as one has failed.
   * @example
   * const onProgress = ({ progress }: { progress: number }) => console.log(progress);
   * const [video] = await index.waitUntilReady(videoId, { onProgress });
   */
  waitUntilReady(
    assetIds: string | readonly string[],
    options: WaitOptions = {},
  ): Promise<Asset[]> {
    return waitUntilReady(this.#transport, this.#path, [assetIds].flat(), options);
  }

  /**
   * Finds segments by words, or what is like a segment or an asset.
   * @example
   * const { segments } = await index.search({ query: "a red bicycle", modes: ["video"] });
   */
  search(query: string | SearchRequest, options: RequestOptions = {}): Promise<SearchResult> {
    return search(this.#transport, this.#path, searchOf(query), options);
  }

  /**
   * Yields the hits of all pages.
   * @example
   * for await (const { title } of index.searchAll("a red bicycle")) console.log(title);
   */
  searchAll(query: string | SearchRequest, options: RequestOptions = {}): AsyncGenerator<Hit> {
    return searchPages(this.#transport, this.#path, searchOf(query), options);
  }

  /**
   * Counts segments, seconds or assets by groups: all, or what a query finds.
   * @example
   * const { groups } = await index.aggregate({ query: "dog", group_by: "taken_at.year" });
   */
  aggregate(request: AggregateRequest = {}, options: RequestOptions = {}): Promise<Aggregate> {
    return aggregate(this.#transport, this.#path, request, options);
  }

  /**
   * Finds segments that are like an image, or like an image with a text.
   * @example
   * const { segments } = await index.searchByImage({ image_file: file, query: "at night" });
   */
  searchByImage(request: ImageSearchRequest, options: RequestOptions = {}): Promise<SearchResult> {
    return searchByImage(this.#transport, this.#path, request, options);
  }

  /**
   * Finds the same footage as a clip, and then footage that is like it.
   * @example
   * const { segments } = await index.searchByVideo({ video_file: file, end_seconds: 10 });
   */
  searchByVideo(request: VideoSearchRequest, options: RequestOptions = {}): Promise<SearchResult> {
    return searchByVideo(this.#transport, this.#path, request, options);
  }

  /**
   * Answers a question from speech, text and descriptions.
   * @example
   * const { answer, citations } = await index.answer("Who built the cabin?");
   */
  answer(question: string | Question, options: RequestOptions = {}): Promise<Answer> {
    return requestAnswer(this.#transport, [...this.#path, "answer"], questionOf(question), options);
  }

  /**
   * Answers a question by looking at keyframes and images.
   * @example
   * const { answer } = await index.answerFromImages("What colour is the cup?");
   */
  answerFromImages(
    question: string | ImageQuestion,
    options: RequestOptions = {},
  ): Promise<Answer> {
    return requestAnswer(this.#transport, this.#visualPath(), questionOf(question), options);
  }

  /**
   * Answers a question about a video, or a time range of it.
   * @example
   * const { answer } = await index.answerVideo(videoId, { query: "Who is she?", end_time: 60 });
   */
  answerVideo(
    videoId: string,
    question: string | VideoQuestion,
    options: RequestOptions = {},
  ): Promise<Answer> {
    return requestAnswer(this.#transport, this.#visualPath(videoId), questionOf(question), options);
  }

  /**
   * Yields an answer from speech, text and descriptions while it is written.
   * @example
   * for await (const { data } of index.streamAnswer("Who is it?")) console.log(data);
   */
  streamAnswer(
    question: string | Question,
    options: RequestOptions = {},
  ): AsyncGenerator<AnswerEvent> {
    return streamAnswer(this.#transport, [...this.#path, "answer"], questionOf(question), options);
  }

  /**
   * Yields an answer from keyframes and images while it is written.
   * @example
   * for await (const { data } of index.streamAnswerFromImages("Who is it?")) console.log(data);
   */
  streamAnswerFromImages(
    question: string | ImageQuestion,
    options: RequestOptions = {},
  ): AsyncGenerator<AnswerEvent> {
    return streamAnswer(this.#transport, this.#visualPath(), questionOf(question), options);
  }

  /**
   * Yields an answer about a video, or a time range of it, while it is written.
   * @example
   * for await (const { data } of index.streamAnswerVideo(videoId, "Who is it?")) console.log(data);
   */
  streamAnswerVideo(
    videoId: string,
    question: string | VideoQuestion,
    options: RequestOptions = {},
  ): AsyncGenerator<AnswerEvent> {
    return streamAnswer(this.#transport, this.#visualPath(videoId), questionOf(question), options);
  }

  /**
   * Lists assets with their segments and what is wrong with them. The last page has the `health` of
   * the index itself. Changes nothing.
   * @example
   * for await (const { asset, health } of index.traverse()) {
   *   if (!health.ok) console.log(asset.title, health.findings);
   * }
   */
  traverse(query: PageQuery = {}, options: RequestOptions = {}): Page<Node, NodesPage> {
    return listOf(this.#transport, [...this.#path, "traverse"], "nodes", query, options);
  }

  /**
   * Starts a job that repairs what a traversal finds and imports what is new in sources.
   * @example
   * const { job_id } = await index.repair();
   * await sightline.jobs.wait(job_id);
   */
  repair(options: RequestOptions = {}): Promise<Traversal> {
    return this.#transport.json({ method: "POST", path: [...this.#path, "traverse"] }, options);
  }

  /**
   * Exports the index as lines of JSON (docs/operate.md).
   * @example
   * const archive = await index.export({ media: true });
   * await sightline.index("copy").importArchive(archive);
   */
  export(query: archives.Query = {}, options: RequestOptions = {}): Promise<archives.Stream> {
    return archives.exportIndex(this.#transport, this.#path, query, options);
  }

  /**
   * Imports an export, of another deployment or account, too.
   * @example
   * const { job_id } = await index.importArchive(file);
   * await sightline.jobs.wait(job_id);
   */
  importArchive(archive: archives.Archive, options: RequestOptions = {}): Promise<QueuedJob> {
    return archives.importArchive(this.#transport, this.#path, archive, options);
  }

  /**
   * Formats parts of several videos, one after the other, as one edit list (CMX 3600).
   * @example
   * const edl = await index.editList({
   *   title: "Bicycles",
   *   moments: [{ asset_id: videoId, start_seconds: 61.5, end_seconds: 75.2 }],
   * });
   */
  editList(cutList: CutList, options: RequestOptions = {}): Promise<string> {
    const request = { method: "POST", json: cutList, repeatable: "safe" } as const;
    return this.#transport.text({ ...request, path: [...this.#path, "edl"] }, options);
  }

  /**
   * Returns segments, or the hits of a search, as a file for a video editor: FCPXML and others.
   * @example
   * const search = { query: "a red bicycle" };
   * const fcpxml = await index.exportCutList({ format: "fcpxml", search });
   */
  exportCutList(request: ExportRequest, options: RequestOptions = {}): Promise<string> {
    const path = [...this.#path, "exports"];
    const sent = { method: "POST", path, json: request, repeatable: "safe" } as const;
    return this.#transport.text(sent, options);
  }

  /**
   * Yields what happens to the assets, until the signal aborts or the consumer stops.
   * @example
   * for await (const { type, data } of index.events({ signal })) console.log(type, data.asset_id);
   */
  events(options: EventOptions = {}): AsyncGenerator<IndexEvent> {
    return followEvents(this.#transport, this.#path, options);
  }

  #visualPath(...videoId: string[]): ApiPath {
    return [...this.#path, ...videoId, "answer_vqa"];
  }
}
