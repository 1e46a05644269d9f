import type { Transport } from "./transport.ts";
import type { BodyOf, RequestOptions, StartedImport } from "./types.ts";

type Body<
  Path extends "videonet/url" | "videonet/playlist" | "videonet/search" | "photonet/profile",
> = BodyOf<`/index/{index_name}/${Path}`, "post">;

/** Imports from platforms. Each starts a job, whose result lists the items. */
export class Imports {
  readonly #transport: Transport;
  readonly #indexPath: string;

  constructor(transport: Transport, indexPath: string) {
    this.#transport = transport;
    this.#indexPath = indexPath;
  }

  video(source: Body<"videonet/url">, options: RequestOptions = {}): Promise<StartedImport> {
    return this.#start("videonet/url", source, options);
  }

  playlist(
    source: Body<"videonet/playlist">,
    options: RequestOptions = {},
  ): Promise<StartedImport> {
    return this.#start("videonet/playlist", source, options);
  }

  search(source: Body<"videonet/search">, options: RequestOptions = {}): Promise<StartedImport> {
    return this.#start("videonet/search", source, options);
  }

  profile(source: Body<"photonet/profile">, options: RequestOptions = {}): Promise<StartedImport> {
    return this.#start("photonet/profile", source, options);
  }

  #start(kind: string, json: unknown, options: RequestOptions): Promise<StartedImport> {
    const path = `${this.#indexPath}/${kind}`;
    return this.#transport.json({ method: "POST", path, json, repeatable: "key" }, options);
  }
}
