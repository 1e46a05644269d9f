import type { ApiPath } from "./api-path.ts";
import type { Transport } from "./transport.ts";
import type { QueryOf, QueuedJob, RequestOptions } from "./types.ts";

export type Query = QueryOf<"/index/{index_name}/export", "get">;
/** Lines of JSON: docs/operate.md. */
export type Stream = ReadableStream<Uint8Array>;
export type Archive = Blob | Stream;

export async function exportIndex(
  transport: Transport,
  indexPath: ApiPath,
  query: Query,
  options: RequestOptions,
): Promise<Stream> {
  const request = { method: "GET", path: [...indexPath, "export"], query } as const;
  return (await transport.open(request, options)).body!;
}

export function importArchive(
  transport: Transport,
  indexPath: ApiPath,
  archive: Archive,
  options: RequestOptions,
): Promise<QueuedJob> {
  const path = [...indexPath, "import-archive"];
  const headers = { "Content-Type": "application/x-ndjson" };
  return transport.json({ method: "POST", path, body: archive, headers }, options);
}
