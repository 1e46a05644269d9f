import { encodeBatch, type SegmentBatch } from "../../tools/segment-batch.ts";
import type { Service } from "../../tools/service.ts";

/** The entry of a service that `loadBatch` can load segments into. */
export const LOADING_WORKER = "bench/search/loading-worker.ts";

/** Stores segments in an index of the service. With `embed`, the service embeds their texts. */
export async function loadBatch(
  { url, account }: Pick<Service, "url" | "account">,
  index: string,
  batch: SegmentBatch,
  embed: "yes" | "no" = "no",
): Promise<void> {
  const query = new URLSearchParams({ account, index, embed });
  const response = await fetch(`${url}/load?${query.toString()}`, {
    method: "POST",
    body: encodeBatch(batch),
  });
  if (!response.ok) throw new Error(`/load: ${response.status} ${await response.text()}`);
}
