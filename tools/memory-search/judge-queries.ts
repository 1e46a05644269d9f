import type { JudgedQuery } from "../calibration/judgments.ts";
import type { MemoryIndex } from "./memory-index.ts";

/** Hits that a query asks for. */
const DEPTH = 100;

/** A query, and the ids of all segments that are relevant to it. */
export interface QueryWithTruth {
  text: string;
  relevantIds: ReadonlySet<string>;
}

/** Runs queries by the service's own search. Returns a result for each, in their order. */
export async function judgeQueries(
  index: MemoryIndex,
  queries: Iterable<QueryWithTruth>,
  signal?: AbortSignal,
): Promise<JudgedQuery[]> {
  const judged: JudgedQuery[] = [];
  for (const { text: query, relevantIds } of queries) {
    signal?.throwIfAborted();
    const hits = await index.search({ query, topK: DEPTH });
    judged.push({
      hits: hits.map(({ signals, score, segment }) => {
        return { signals, score, isRight: relevantIds.has(segment.segmentId) };
      }),
      relevantCount: relevantIds.size,
    });
  }
  return judged;
}
