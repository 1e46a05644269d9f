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

/** Throws if a search for a text of the index finds nothing by vectors: half would be measured. */
export async function checkVectors(
  { sightline }: Pick<Service, "sightline">,
  index: string,
  query: string,
): Promise<void> {
  const { segments } = await sightline.index(index).search(query);
  if (segments.some(({ signals }) => signals.text_margin !== undefined)) return;
  throw new Error(`No text vector of the index "${index}" is found where searches look.`);
}
