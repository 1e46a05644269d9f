import { nameOf } from "./add-asset.ts";
import type { ApiPath } from "./api-path.ts";
import { listOf, type Page } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { BodyOf, PageQuery, QueuedJob, RequestOptions, Watch, WatchMatch } from "./types.ts";

/** A new watch: for words, for what is like a segment or an asset, or for an image. */
export type NewWatch = BodyOf<"/index/{index_name}/watches", "post"> & {
  /** Image to watch for, instead of `similar_to`. */
  image_file?: Blob;
};
export type WatchChange = BodyOf<"/index/{index_name}/watches/{watch_id}", "patch">;
export type WatchPreview = BodyOf<"/index/{index_name}/watches/preview", "post">;

/** The watches of an index: queries that announce each new segment which matches. */
export class Watches {
  readonly #transport: Transport;
  readonly #path: ApiPath;

  constructor(transport: Transport, indexPath: ApiPath) {
    this.#transport = transport;
    this.#path = [...indexPath, "watches"];
  }

  /**
   * Creates a watch. Its matches are events of the type `watch.matched`.
   * @example
   * const { watch_id } = await index.watches.create({ name: "Truck", query: "red truck" });
   */
  create({ image_file: image, ...watch }: NewWatch, options: RequestOptions = {}): Promise<Watch> {
    const request = { method: "POST", path: this.#path } as const;
    if (!image) return this.#transport.json({ ...request, json: watch }, options);
    const body = new FormData();
    body.append("watch", JSON.stringify(watch));
    body.append("image_file", image, nameOf(image, "image"));
    return this.#transport.json({ ...request, body }, options);
  }

  /**
   * Lists the watches, oldest first.
   * @example
   * for await (const { name, matches } of index.watches.list()) console.log(name, matches);
   */
  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Watch> {
    return listOf(this.#transport, this.#path, "watches", query, options);
  }

  /**
   * Returns the record of one.
   * @example
   * const { matches } = await index.watches.get(watchId);
   */
  get(id: string, options: RequestOptions = {}): Promise<Watch> {
    return this.#transport.json({ method: "GET", path: [...this.#path, id] }, options);
  }

  /**
   * Changes what is given, for segments that come from now on.
   * @example
   * await index.watches.update(watchId, { paused: true });
   */
  update(id: string, change: WatchChange, options: RequestOptions = {}): Promise<Watch> {
    const path = [...this.#path, id];
    return this.#transport.json({ method: "PATCH", path, json: change }, options);
  }

  /**
   * Deletes a watch and its list of matches. The segments stay.
   * @example
   * await index.watches.delete(watchId);
   */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    await this.#transport.json({ method: "DELETE", path: [...this.#path, id] }, options);
  }

  /**
   * Lists what has matched, of the newest assets first.
   * @example
   * for await (const { score, segment } of index.watches.matches(watchId)) {
   *   console.log(score, segment.title);
   * }
   */
  matches(id: string, query: PageQuery = {}, options: RequestOptions = {}): Page<WatchMatch> {
    return listOf(this.#transport, [...this.#path, id, "matches"], "matches", query, options);
  }

  /**
   * Starts a job that finds what a watch would have announced: a stored one, or a new one.
   * @example
   * const { job_id } = await index.watches.preview({ query: "red truck" });
   */
  preview(watch: string | WatchPreview, options: RequestOptions = {}): Promise<QueuedJob> {
    const isStored = typeof watch === "string";
    const path = isStored ? [...this.#path, watch, "preview"] : [...this.#path, "preview"];
    const request = { method: "POST", path, ...(!isStored && { json: watch }) } as const;
    return this.#transport.json(request, options);
  }
}
