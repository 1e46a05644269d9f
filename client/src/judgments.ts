import type { ApiPath } from "./api-path.ts";
import { listOf, type Page } from "./page.ts";
import type { Transport } from "./transport.ts";
import type {
  Judgment,
  JudgmentResult,
  NewJudgment,
  PageQuery,
  Quality,
  RequestOptions,
} from "./types.ts";

/** The judgments of an index: what is relevant, and how right its results are. */
export class Judgments {
  readonly #transport: Transport;
  readonly #indexPath: ApiPath;
  readonly #path: ApiPath;

  constructor(transport: Transport, indexPath: ApiPath) {
    this.#transport = transport;
    this.#indexPath = indexPath;
    this.#path = [...indexPath, "judgments"];
  }

  /**
   * Says whether a segment is relevant to a query. Replaces an earlier judgment of both; null
   * removes it.
   * @example
   * const { segments } = await index.search("a red truck");
   * const segment_id = segments[0]!.segment_id;
   * await index.judgments.put({ query: "a red truck", segment_id, relevant: true });
   */
  put(judgment: NewJudgment, options: RequestOptions = {}): Promise<JudgmentResult> {
    const request = { method: "POST", path: this.#path, json: judgment } as const;
    return this.#transport.json({ ...request, repeatable: "safe" }, options);
  }

  /**
   * Lists the judgments, oldest first.
   * @example
   * for await (const { query, relevant } of index.judgments.list()) console.log(query, relevant);
   */
  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Judgment> {
    return listOf(this.#transport, this.#path, "judgments", query, options);
  }

  /**
   * Measures the results of the index by its judgments.
   * @example
   * const { tenths } = await index.judgments.quality();
   * for (const { from, judged, right } of tenths) console.log(from, judged, right);
   */
  quality(options: RequestOptions = {}): Promise<Quality> {
    const path = [...this.#indexPath, "quality"];
    return this.#transport.json({ method: "GET", path }, options);
  }
}
