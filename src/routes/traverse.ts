import { z } from "@hono/zod-openapi";
import { mapAtOnce } from "../at-once.ts";
import { FINDINGS, inspect } from "../care/inspect.ts";
import { CARE } from "../config.ts";
import { listAssets } from "../store/assets.ts";
import type { Page, PageRequest } from "../store/rows.ts";
import { listSegments } from "../store/segments.ts";
import { listTallies } from "../store/tallies.ts";
import type { Asset, MediaIndexRow } from "../types.ts";
import { assetRecord, toAssetRecord } from "./asset-record.ts";
import { addEndpoint, type Context, createRouter } from "./endpoint.ts";
import { indexParams, indexRecord, toIndexRecord } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { type MediaUrl, mediaUrls } from "./media-url.ts";
import { nextCursor, pageQuery, pageRequest } from "./page.ts";
import { segmentRecord, toSegmentRecord } from "./segment-record.ts";

/** Walking an index. */
export const traverseRoutes = createRouter();

const node = z
  .object({
    asset: assetRecord,
    segments: z.array(segmentRecord),
    health: z.object({
      ok: z.boolean(),
      findings: z.array(z.object({ code: z.enum(FINDINGS), message: z.string() })),
    }),
  })
  .openapi("Node");
type Node = z.input<typeof node>;

addEndpoint(
  traverseRoutes,
  {
    method: "get",
    path: "/index/{index_name}/traverse",
    summary: "Traverse",
    scope: "read",
    params: indexParams,
    query: pageQuery,
    response: z.object({
      index: indexRecord,
      nodes: z.array(node),
      total: z.int(),
      next_cursor: z.string().nullable(),
    }),
    texts: ["application/x-ndjson"],
  },
  async (c, { params, query }) => {
    const index = await requireOwnIndex(c, params.index_name);
    const request = pageRequest(query);
    if (/\bapplication\/x-ndjson\b/.test(c.req.header("accept") ?? "")) {
      return inLines(walk(c, index, request));
    }
    const [page, tallies] = await Promise.all([
      listAssets(c.env.DB, index.indexId, {}, request),
      listTallies(c.env.DB, index.accountId, index.indexId),
    ]);
    const urlOf = mediaUrls(c);
    return {
      index: toIndexRecord(index, tallies),
      nodes: await mapAtOnce(page.items, CARE.atOnce, (asset) => nodeOf(c, asset, urlOf)),
      total: page.total,
      next_cursor: nextCursor(page),
    };
  },
);

/** All nodes from a place on, in the order of the pages. */
async function* walk(
  c: Context,
  { indexId }: MediaIndexRow,
  { limit, after }: PageRequest,
): AsyncGenerator<Node> {
  for (let at: string | null = after; at !== null;) {
    const page: Page<Asset> = await listAssets(c.env.DB, indexId, {}, { limit, after: at });
    for (const asset of page.items) yield nodeOf(c, asset, mediaUrls(c));
    at = page.next;
  }
}

async function nodeOf(c: Context, asset: Asset, urlOf: MediaUrl): Promise<Node> {
  const [segments, findings] = await Promise.all([
    listSegments(c.env.DB, asset.assetId, 0, Number.MAX_SAFE_INTEGER),
    inspect(c.env, asset, Date.now()),
  ]);
  return {
    asset: await toAssetRecord(asset, urlOf),
    segments: await Promise.all(segments.map((one) => toSegmentRecord(one, asset, urlOf))),
    health: { ok: findings.length === 0, findings },
  };
}

/** A value a line (https://github.com/ndjson/ndjson-spec), as fast as it is read. */
function inLines(values: AsyncGenerator): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await values.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
    },
    async cancel() {
      await values.return(undefined);
    },
  });
  return new Response(body, { headers: { "Content-Type": "application/x-ndjson" } });
}
