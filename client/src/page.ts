import type { ApiRequest, Transport } from "./transport.ts";
import type { RequestOptions } from "./types.ts";

/** One page of a list. */
export interface PageResult<T> {
  items: T[];
  total: number;
  /** Cursor of the next page; null on the last one. */
  next_cursor: string | null;
}

/** Loads the page at a cursor; undefined is the first. */
type LoadPage<T> = (cursor: string | undefined) => Promise<PageResult<T>>;

/**
 * A list. `await` gives its first page, `for await` every item over all pages. Nothing is requested
 * before.
 */
export class Page<T> implements PromiseLike<PageResult<T>>, AsyncIterable<T> {
  readonly #load: LoadPage<T>;
  #first: Promise<PageResult<T>> | undefined;

  constructor(load: LoadPage<T>) {
    this.#load = load;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- `await` gives the first page
  then<A = PageResult<T>, B = never>(
    onFulfilled?: ((page: PageResult<T>) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#loadFirst().then(onFulfilled, onRejected);
  }

  /** Yields the pages, each of which is requested when the consumer asks for it. */
  async *pages(): AsyncGenerator<PageResult<T>> {
    let page = await this.#loadFirst();
    for (;;) {
      yield page;
      if (page.next_cursor === null) return;
      page = await this.#load(page.next_cursor);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const { items } of this.pages()) yield* items;
  }

  #loadFirst(): Promise<PageResult<T>> {
    this.#first ??= this.#load(undefined);
    return this.#first;
  }
}

/** Makes the list that a request reads, whose items are in the field `field` of each response. */
export function listOf<T>(
  transport: Transport,
  path: string,
  field: string,
  query: ApiRequest["query"] = {},
  options: RequestOptions = {},
): Page<T> {
  return new Page(async (cursor) => {
    const request = {
      method: "GET",
      path,
      query: { ...query, ...(cursor && { cursor }) },
    } as const;
    const body = await transport.json<Record<string, unknown>>(request, options);
    return {
      items: body[field] as T[],
      total: body["total"] as number,
      next_cursor: body["next_cursor"] as string | null,
    };
  });
}
