import type { Page } from "./page.ts";
import { listOf } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { Asset, BodyOf, PageQuery, QueuedJob, RequestOptions } from "./types.ts";

export type AssetChange = BodyOf<"/index/{index_name}/image/{image_id}", "patch">;

/** What videos and images have in common. `Full` is the record of one. */
export abstract class Collection<Full extends Asset> {
  protected readonly transport: Transport;
  protected readonly indexPath: string;
  protected readonly type: Asset["asset_type"];

  constructor(transport: Transport, indexPath: string, type: Asset["asset_type"]) {
    this.transport = transport;
    this.indexPath = indexPath;
    this.type = type;
  }

  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Asset> {
    const field = `${this.type}s`;
    return listOf(this.transport, `${this.indexPath}/${field}`, field, query, options);
  }

  get(id: string, options: RequestOptions = {}): Promise<Full> {
    return this.transport.json({ method: "GET", path: this.pathOf(id) }, options);
  }

  /** Changes the title or the metadata. */
  update(id: string, change: AssetChange, options: RequestOptions = {}): Promise<Asset> {
    const request = { method: "PATCH", path: this.pathOf(id), json: change } as const;
    return this.transport.json(request, options);
  }

  /** Deletes the asset at once; the job removes its files and vectors. */
  delete(id: string, options: RequestOptions = {}): Promise<QueuedJob> {
    return this.transport.json({ method: "DELETE", path: this.pathOf(id) }, options);
  }

  /** Starts the ingest of an asset that has failed or has warnings. */
  retry(id: string, options: RequestOptions = {}): Promise<Asset> {
    return this.transport.json({ method: "POST", path: `${this.pathOf(id)}/retry` }, options);
  }

  protected pathOf(id: string): string {
    return `${this.indexPath}/${this.type}/${encodeURIComponent(id)}`;
  }
}
