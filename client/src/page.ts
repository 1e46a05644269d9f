import type { ApiPath } from "./api-path.ts";
import type { ApiRequest, Transport } from "./transport.ts";
import type { Node, RequestOptions, TraversalPage } from "./types.ts";

/** One page of a list. */
export interface PageResult<T> {
  items: T[];
  total: number;
  /** Cursor of the next page; null on the last one. */
  next_cursor: string | null;
}

/** A page of a traversal, with its nodes as `items`. */
export type NodesPage = PageResult<Node> & Omit<TraversalPage, "nodes">;

/** Loads the page at a cursor; undefined is the first. */
type LoadPage<Result> = (cursor: string | undefined) => Promise<Result>;

/**
 * A list. `await` gives its first page, `for await` every item over all pages. Pages may have more
 * fields than their items. Nothing is requested before.
 */
export class Page<T, Result extends PageResult<T> = PageResult<T>>
  implements PromiseLike<Result>, AsyncIterable<T>
{
  readonly #load: LoadPage<Result>;
  #first: Promise<Result> | undefined;

  constructor(load: LoadPage<Result>) {
    this.#load = load;
  }

  /**
   * Resolves to the first page.
   * @example
   * const { items, total } = await index.assets();
   */
  // oxlint-disable-next-line unicorn/no-thenable -- `await` gives the first page
  then<A = Result, B = never>(
    onFulfilled?: ((page: Result) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#loadFirst().then(onFulfilled, onRejected);
  }

  /**
   * Yields the pages, each of which is requested when the consumer asks for it.
   * @example
   * for await (const { items, next_cursor } of index.assets().pages()) {
   *   console.log(items.length, next_cursor);
   * }
   */
  async *pages(): AsyncGenerator<Result> {
    let page = await this.#loadFirst();
    for (;;) {
      yield page;
      if (page.next_cursor === null) return;
      page = await this.#load(page.next_cursor);
    }
  }

  /**
   * Yields every item over all pages.
   * @example
   * for await (const asset of index.assets()) console.log(asset.title);
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const { items } of this.pages()) yield* items;
  }

  #loadFirst(): Promise<Result> {
    this.#first ??= this.#load(undefined);
    return this.#first;
  }
}

/** Makes the list that a request reads, whose items are in the field `field` of each response. */
export function listOf<T, Result extends PageResult<T> = PageResult<T>>(
  transport: Transport,
  path: ApiPath,
  field: string,
  query: ApiRequest["query"] = {},
  options: RequestOptions = {},
): Page<T, Result> {
  return new Page(async (cursor) => {
    const request = {
      method: "GET",
      path,
      query: { ...query, ...(cursor && { cursor }) },
    } as const;
    const body = await transport.json<Record<string, unknown>>(request, options);
    const { [field]: items, ...rest } = body;
    return { ...rest, items } as Result;
  });
}
