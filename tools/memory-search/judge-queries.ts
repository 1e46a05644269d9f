import type { JudgedQuery } from "../calibration/judgments.ts";
import type { MemoryIndex } from "./memory-index.ts";

/** Hits that a query asks for. */
const DEPTH = 100;

/** A query, the ids of all segments that are relevant to it, and of those that may be. */
export interface QueryWithTruth {
  text: string;
  relevantIds: ReadonlySet<string>;
  unknownIds?: ReadonlySet<string>;
}

/**
 * Runs queries by the service's own search. Returns a result for each, in their order, without the
 * hits of which nobody knows whether they are relevant.
 */
export async function judgeQueries(
  index: MemoryIndex,
  queries: Iterable<QueryWithTruth>,
  signal?: AbortSignal,
): Promise<JudgedQuery[]> {
  const judged: JudgedQuery[] = [];
  for (const { text: query, relevantIds, unknownIds } of queries) {
    signal?.throwIfAborted();
    const hits = await index.search({ query, topK: DEPTH });
    judged.push({
      hits: hits.flatMap(({ signals, score, segment: { segmentId } }) => {
        if (unknownIds?.has(segmentId)) return [];
        return { signals, score, isRight: relevantIds.has(segmentId) };
      }),
      relevantCount: relevantIds.size,
    });
  }
  return judged;
}
