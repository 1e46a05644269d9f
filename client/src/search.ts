import { nameOf } from "./add-asset.ts";
import type { ApiPath } from "./api-path.ts";
import type { Transport } from "./transport.ts";
import type {
  Aggregate,
  AggregateRequest,
  BodyOf,
  FormOf,
  GroupSearchResult,
  Hit,
  QueryOf,
  RequestOptions,
  SearchResult,
} from "./types.ts";

export type SearchRequest = BodyOf<"/index/{index_name}/search", "post">;
/** Parameters of a search by an image or a clip. They are the same for both. */
type ExampleQuery = Omit<QueryOf<"/index/{index_name}/search_image", "post">, "filter"> &
  Pick<SearchRequest, "filter">;
export type ImageSearchRequest = { image_file: Blob } & ExampleQuery &
  FormOf<"/index/{index_name}/search_image", "post">;
export type VideoSearchRequest = { video_file: Blob } & ExampleQuery &
  FormOf<"/index/{index_name}/search_video", "post">;

export type GroupSearchRequest = BodyOf<"/search", "post">;

/** Makes the request of a text. */
export function searchOf(query: string | SearchRequest): SearchRequest {
  return typeof query === "string" ? { query } : query;
}

export function search(
  transport: Transport,
  indexPath: ApiPath,
  search: SearchRequest,
  options: RequestOptions,
): Promise<SearchResult> {
  const request = { method: "POST", path: [...indexPath, "search"], json: search } as const;
  return transport.json({ ...request, ...(!search.queue_job && SAFE) }, options);
}

/** A search changes nothing, unless it is queued as a job. */
const SAFE = { repeatable: "safe" } as const;

/** Searches several indices. */
export function searchIndices(
  transport: Transport,
  request: GroupSearchRequest,
  options: RequestOptions,
): Promise<GroupSearchResult> {
  return transport.json({ method: "POST", path: ["search"], json: request, ...SAFE }, options);
}

export function aggregate(
  transport: Transport,
  indexPath: ApiPath,
  json: AggregateRequest,
  options: RequestOptions,
): Promise<Aggregate> {
  const path = [...indexPath, "aggregate"];
  return transport.json({ method: "POST", path, json, ...SAFE }, options);
}

/** Yields the hits of all pages of a search. */
export function searchPages(
  transport: Transport,
  indexPath: ApiPath,
  request: SearchRequest,
  options: RequestOptions,
): AsyncGenerator<Hit> {
  return readHits(request, (page) => search(transport, indexPath, page, options));
}

/** Yields the hits of all pages of a search of several indices. */
export function searchGroupPages(
  transport: Transport,
  request: GroupSearchRequest,
  options: RequestOptions,
): AsyncGenerator<Hit> {
  return readHits(request, (page) => searchIndices(transport, page, options));
}

async function* readHits<Request extends { cursor?: string | undefined }>(
  request: Request,
  readPage: (page: Request) => Promise<Pick<SearchResult, "segments" | "next_cursor">>,
): AsyncGenerator<Hit> {
  let cursor: string | null = request.cursor ?? null;
  do {
    const result = await readPage({ ...request, ...(cursor !== null && { cursor }) });
    yield* result.segments;
    cursor = result.next_cursor;
  } while (cursor !== null);
}

export function searchByImage(
  transport: Transport,
  indexPath: ApiPath,
  { image_file: file, query: text, ...parameters }: ImageSearchRequest,
  options: RequestOptions,
): Promise<SearchResult> {
  const body = new FormData();
  if (text !== undefined) body.append("query", text);
  body.append("image_file", file, nameOf(file, "image"));
  const path = [...indexPath, "search_image"];
  const query = toQuery(parameters);
  return transport.json({ method: "POST", path, query, body, ...SAFE }, options);
}

export function searchByVideo(
  transport: Transport,
  indexPath: ApiPath,
  { video_file: file, start_seconds, end_seconds, queue_job, ...parameters }: VideoSearchRequest,
  options: RequestOptions,
): Promise<SearchResult> {
  const body = new FormData();
  for (const [name, value] of Object.entries({ start_seconds, end_seconds, queue_job })) {
    if (value !== undefined && value !== null) body.append(name, String(value));
  }
  body.append("video_file", file, nameOf(file, "video"));
  const path = [...indexPath, "search_video"];
  const request = { method: "POST", path, query: toQuery(parameters), body } as const;
  return transport.json({ ...request, ...(!queue_job && SAFE) }, options);
}

function toQuery({ filter, ...query }: ExampleQuery) {
  return { ...query, ...(filter && { filter: JSON.stringify(filter) }) };
}
