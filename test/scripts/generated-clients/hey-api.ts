import { createClient } from "./generated/hey-api/client/index.ts";
import {
  addImage,
  answerFromText,
  createIndex,
  deleteIndex,
  getImage,
  listImages,
  searchIndex,
} from "./generated/hey-api/index.ts";
import { type JourneyInput, type JourneyResult, poll } from "./journey.ts";

/** Uses the client that @hey-api/openapi-ts generates, as its documentation shows. */
export async function runJourney(input: JourneyInput): Promise<JourneyResult> {
  const client = createClient({ baseUrl: input.url, auth: input.apiKey });
  const path = { index_name: input.indexName };
  await createIndex({ client, throwOnError: true, body: { index_name: input.indexName } });
  const { data: added } = await addImage({
    client,
    throwOnError: true,
    path,
    body: { image_file: input.image, metadata_str: JSON.stringify({ year: 2026 }) },
  });
  const image_id = added.asset_id;
  const image = await poll(async () => {
    const { data } = await getImage({ client, throwOnError: true, path: { ...path, image_id } });
    return data.state === "ready" || data.state === "failed" ? data : undefined;
  });
  const { data: page } = await listImages({ client, throwOnError: true, path });
  const body = { query: "alpine notebook", filter: { year: { $gte: 2024 } } };
  const { data: result } = await searchIndex({ client, throwOnError: true, path, body });
  const { data: answer } = await answerFromText({
    client,
    throwOnError: true,
    path,
    query: { query: "What is written in the notebook?" },
  });
  const invalid = await searchIndex({ client, path, body: { query: "x", top_k: 0 } });
  const { data: queued } = await searchIndex({
    client,
    throwOnError: true,
    path,
    body: { query: "notebook", queue_job: true },
  });
  const { data: deleted } = await deleteIndex({ client, throwOnError: true, path });
  const { detail = [] } = (invalid.error ?? {}) as { detail?: { loc: (string | number)[] }[] };
  return {
    title: image.title,
    states: page.images.map(({ state }) => state),
    found: result.segments.map(({ on_screen_text }) => on_screen_text),
    grounded: answer.grounded,
    citedMarkers: answer.citations.map(({ marker }) => marker),
    issues: detail.map(({ loc }) => loc),
    queuedState: queued.state,
    deletion: deleted.state,
  };
}
