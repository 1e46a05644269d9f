import type { components, paths } from "./schema.ts";

type Schemas = components["schemas"];

export type Account = Schemas["Account"];
export type Aggregate = Schemas["Aggregate"];
export type Answer = Schemas["Answer"];
export type Asset = Schemas["Asset"];
export type CreatedKey = Schemas["CreatedKey"];
export type Delivery = Schemas["Delivery"];
export type GroupSearchResult = Schemas["GroupSearchResult"];
export type Health = Schemas["Health"];
export type Hit = Schemas["Hit"];
export type IndexRecord = Schemas["Index"];
export type Job = Schemas["Job"];
export type Judgment = Schemas["Judgment"];
export type JudgmentResult = Schemas["JudgmentResult"];
export type Key = Schemas["Key"];
export type Node = Schemas["Node"];
export type Quality = Schemas["Quality"];
export type QueuedJob = Schemas["QueuedJob"];
export type SearchResult = Schemas["SearchResult"];
export type Segment = Schemas["Segment"];
export type Source = Schemas["Source"];
export type StartedImport = Schemas["StartedImport"];
export type Stats = Schemas["Stats"];
export type Transcript = Schemas["Transcript"];
export type Traversal = Schemas["Traversal"];
export type TraversalPage = Schemas["TraversalPage"];
export type UpdatedTranscript = Schemas["UpdatedTranscript"];
export type Upload = Schemas["Upload"];
export type ValidationIssue = Schemas["ValidationError"]["detail"][number];
export type Video = Schemas["Video"];
export type VideoMetadata = Schemas["VideoMetadata"];
export type Watch = Schemas["Watch"];
export type WatchMatch = Schemas["WatchMatch"];
export type Webhook = Schemas["Webhook"];

type EventType = Schemas["Event"]["type"];
type EventData = Schemas["Event"]["data"];
type EventOf<Type, Field extends keyof EventData = never> = {
  id: string;
  type: Type;
  timestamp: string;
  data: EventData & Required<Pick<EventData, Field>>;
};

/**
 * An event of an index. Its `type` says which data it has. `reset` says that missed events are no
 * longer stored.
 */
export type IndexEvent =
  | EventOf<Extract<EventType, `asset.${string}`>, "asset_id" | "asset_type">
  | EventOf<"watch.matched", "watch_id" | "watch_name" | "asset_id" | "title" | "total" | "matches">
  | EventOf<"webhook.test" | "reset">;
/** The event that a watch has matched. */
export type MatchEvent = Extract<IndexEvent, { type: "watch.matched" }>;

/** A new asset, or the one that has the bytes already. A resumable upload has no `job_id`. */
export type AddedAsset = Asset & Partial<Schemas["AddedAsset"]> & { duplicate: boolean };

/** A message of a streamed answer. */
export type AnswerEvent =
  | { event: "citations"; data: Answer["citations"] }
  | { event: "delta"; data: { text: string } }
  | { event: "done"; data: Answer };

/** Query parameters of an operation. */
export type QueryOf<P extends keyof paths, M extends keyof paths[P]> = paths[P][M] extends {
  parameters: { query?: infer Query };
}
  ? NonNullable<Query>
  : never;

/** JSON body of an operation. */
export type BodyOf<P extends keyof paths, M extends keyof paths[P]> = paths[P][M] extends {
  requestBody?: { content: { "application/json": infer Body } };
}
  ? Body
  : never;

/** Form of an operation, without its files. */
export type FormOf<P extends keyof paths, M extends keyof paths[P]> = paths[P][M] extends {
  requestBody?: { content: { "multipart/form-data": infer Form } };
}
  ? Omit<Form, "video_file" | "image_file" | "transcript">
  : never;

/** Parts of videos in order, and the title and frame rate of the programme. */
export type CutList = BodyOf<"/index/{index_name}/edl", "post">;

/**
 * A file for a video editor: its format, and the segments or the search of which to cut the hits.
 */
export type ExportRequest = BodyOf<"/index/{index_name}/exports", "post">;
/** The same of several indices. */
export type GroupExportRequest = BodyOf<"/exports", "post">;

/** What to count, and by which groups. */
export type AggregateRequest = BodyOf<"/index/{index_name}/aggregate", "post">;

/** Whether a segment is relevant to a query, or to a queued search. */
export type NewJudgment = BodyOf<"/index/{index_name}/judgments", "post">;

export type PageQuery = QueryOf<"/index", "get">;

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Identifies the operation to the service, instead of a random UUID. */
  idempotencyKey?: string | undefined;
  /** Time for the answer to each attempt. */
  timeoutMs?: number | undefined;
}

/** Bytes that the service has received, of all. */
export type UploadProgress = (sent: number, total: number) => void;
