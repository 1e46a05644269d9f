import type { ApiPath } from "./api-path.ts";
import type { Transport } from "./transport.ts";
import type { BodyOf, RequestOptions, StartedImport } from "./types.ts";

type Body<
  Path extends "videonet/url" | "videonet/playlist" | "videonet/search" | "photonet/profile",
> = BodyOf<`/index/{index_name}/${Path}`, "post">;

/** Imports from platforms. Each starts a job, whose result lists the items. */
export class Imports {
  readonly #transport: Transport;
  readonly #indexPath: ApiPath;

  constructor(transport: Transport, indexPath: ApiPath) {
    this.#transport = transport;
    this.#indexPath = indexPath;
  }

  /**
   * Imports one video of a platform.
   * @example
   * const { job_id } = await index.imports.video({ url: "https://video.example/w/abc" });
   * const { result } = await sightline.jobs.wait(job_id);
   */
  video(source: Body<"videonet/url">, options: RequestOptions = {}): Promise<StartedImport> {
    return this.#start("videonet/url", source, options);
  }

  /**
   * Imports a playlist or a channel. With `follow`, also what is added to it later.
   * @example
   * await index.imports.playlist({ url: "https://video.example/w/p/abc", follow: true });
   */
  playlist(
    source: Body<"videonet/playlist">,
    options: RequestOptions = {},
  ): Promise<StartedImport> {
    return this.#start("videonet/playlist", source, options);
  }

  /**
   * Imports what a search of the platform finds.
   * @example
   * await index.imports.search({ query: "sea otters", limit: 10 });
   */
  search(source: Body<"videonet/search">, options: RequestOptions = {}): Promise<StartedImport> {
    return this.#start("videonet/search", source, options);
  }

  /**
   * Imports the posts of a profile.
   * @example
   * await index.imports.profile({ username: "harbour", limit: 50 });
   */
  profile(source: Body<"photonet/profile">, options: RequestOptions = {}): Promise<StartedImport> {
    return this.#start("photonet/profile", source, options);
  }

  #start(kind: string, json: unknown, options: RequestOptions): Promise<StartedImport> {
    const path = [...this.#indexPath, ...kind.split("/")];
    return this.#transport.json({ method: "POST", path, json, repeatable: "key" }, options);
  }
}
