import type { ApiPath } from "./api-path.ts";
import { type Page, listOf } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { Asset, BodyOf, PageQuery, QueuedJob, RequestOptions } from "./types.ts";

export type AssetChange = BodyOf<"/index/{index_name}/image/{image_id}", "patch">;

/** What videos and images have in common. `Full` is the record of one. */
export abstract class Collection<Full extends Asset> {
  protected readonly transport: Transport;
  protected readonly indexPath: ApiPath;
  protected readonly type: Asset["asset_type"];

  constructor(transport: Transport, indexPath: ApiPath, type: Asset["asset_type"]) {
    this.transport = transport;
    this.indexPath = indexPath;
    this.type = type;
  }

  /**
   * Lists the videos or the images, oldest first.
   * @example
   * for await (const { title } of index.videos.list()) console.log(title);
   */
  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Asset> {
    const field = `${this.type}s`;
    return listOf(this.transport, [...this.indexPath, field], field, query, options);
  }

  /**
   * Returns the record of one.
   * @example
   * const { state, duration_seconds } = await index.videos.get(videoId);
   */
  get(id: string, options: RequestOptions = {}): Promise<Full> {
    return this.transport.json({ method: "GET", path: this.pathOf(id) }, options);
  }

  /**
   * Changes the title or the metadata.
   * @example
   * await index.images.update(imageId, { title: "Harbour", metadata: { year: 2026 } });
   */
  update(id: string, change: AssetChange, options: RequestOptions = {}): Promise<Asset> {
    const request = { method: "PATCH", path: this.pathOf(id), json: change } as const;
    return this.transport.json(request, options);
  }

  /**
   * Deletes the asset at once; the job removes its files and vectors.
   * @example
   * const { job_id } = await index.videos.delete(videoId);
   */
  delete(id: string, options: RequestOptions = {}): Promise<QueuedJob> {
    return this.transport.json({ method: "DELETE", path: this.pathOf(id) }, options);
  }

  /**
   * Starts the ingest of an asset that has failed or has warnings.
   * @example
   * const { state } = await index.videos.retry(videoId);
   */
  retry(id: string, options: RequestOptions = {}): Promise<Asset> {
    return this.transport.json({ method: "POST", path: [...this.pathOf(id), "retry"] }, options);
  }

  protected pathOf(id: string): ApiPath {
    return [...this.indexPath, this.type, id];
  }
}
