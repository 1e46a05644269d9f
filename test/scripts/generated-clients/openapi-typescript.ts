import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi-typescript.ts";
import { type JourneyInput, type JourneyResult, poll } from "./journey.ts";

/** Uses openapi-fetch with the types that openapi-typescript generates. */
export async function runJourney(input: JourneyInput): Promise<JourneyResult> {
  const client = createClient<paths, "application/json">({
    baseUrl: input.url,
    headers: { "X-API-Key": input.apiKey },
  });
  const path = { index_name: input.indexName };
  await client.POST("/index", { body: { index_name: input.indexName } });
  const { data: added } = await client.POST("/index/{index_name}/image", {
    params: { path },
    body: { image_file: "", metadata_str: JSON.stringify({ year: 2026 }) },
    bodySerializer(body) {
      const form = new FormData();
      form.append("image_file", input.image, "notebook.png");
      form.append("metadata_str", body?.metadata_str ?? "{}");
      return form;
    },
  });
  const image_id = added!.asset_id;
  const image = await poll(async () => {
    const { data } = await client.GET("/index/{index_name}/image/{image_id}", {
      params: { path: { ...path, image_id } },
    });
    return data?.state === "ready" || data?.state === "failed" ? data : undefined;
  });
  const { data: page } = await client.GET("/index/{index_name}/images", { params: { path } });
  const search = "/index/{index_name}/search";
  const { data: result } = await client.POST(search, {
    params: { path },
    body: { query: "alpine notebook", filter: { year: { $gte: 2024 } } },
  });
  const { data: answer } = await client.GET("/index/{index_name}/answer", {
    params: { path, query: { query: "What is written in the notebook?" } },
  });
  const { error } = await client.POST(search, {
    params: { path },
    body: { query: "x", top_k: 0 },
  });
  const { data: queued } = await client.POST(search, {
    params: { path },
    body: { query: "notebook", queue_job: true },
  });
  const { data: deleted } = await client.DELETE("/index/{index_name}", { params: { path } });
  const issues = error && Array.isArray(error.detail) ? error.detail : [];
  return {
    title: image.title,
    states: page!.images.map(({ state }) => state),
    found: result!.segments.map(({ on_screen_text }) => on_screen_text),
    grounded: answer!.grounded,
    citedMarkers: answer!.citations.map(({ marker }) => marker),
    issues: issues.map(({ loc }) => loc),
    queuedState: queued!.state,
    deletion: deleted!.state,
  };
}
