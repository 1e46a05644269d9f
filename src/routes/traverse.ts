import { z } from "@hono/zod-openapi";
import { mapAtOnce } from "../at-once.ts";
import { type Finding, FINDINGS, INDEX_FINDINGS } from "../care/findings.ts";
import { inspect } from "../care/inspect.ts";
import { inspectIndex } from "../care/inspect-index.ts";
import { askPictureSpace, type PictureSpace } from "../care/picture-space.ts";
import { nextAssets } from "../care/page.ts";
import { startTraversal } from "../care/start-traversal.ts";
import { CARE, KEY_RECHECK_MS } from "../config.ts";
import { listAssets } from "../store/assets.ts";
import type { Page, PageRequest } from "../store/rows.ts";
import { listSegments } from "../store/segments.ts";
import { listTallies } from "../store/tallies.ts";
import type { Asset, MediaIndexRow } from "../types.ts";
import { assetRecord, toAssetRecord } from "./asset-record.ts";
import { requireStillValid } from "./authenticate.ts";
import { addEndpoint, type Context, createRouter } from "./endpoint.ts";
import { indexParams, indexRecord, toIndexRecord } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { mediaUrls } from "./media-url.ts";
import { nextCursor, pageQuery, pageRequest } from "./page.ts";
import { segmentRecord, toSegmentRecord } from "./segment-record.ts";

/** Walking an index. */
export const traverseRoutes = createRouter("Traversal");

const healthOf = <Codes extends readonly [string, ...string[]]>(codes: Codes) =>
  z.object({
    ok: z.boolean(),
    findings: z.array(z.object({ code: z.enum(codes), message: z.string() })),
  });

const node = z
  .object({
    asset: assetRecord,
    segments: z.array(segmentRecord),
    health: healthOf(FINDINGS),
  })
  .openapi("Node");
type Node = z.input<typeof node>;

/** Of the index itself, at the end of a walk. */
const indexHealth = healthOf(INDEX_FINDINGS).openapi("IndexHealth");

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
      health: indexHealth.nullable(),
      total: z.int(),
      next_cursor: z.string().nullable(),
    }),
    texts: ["application/x-ndjson"],
  },
  async (c, { params, query }) => {
    const index = await requireOwnIndex(c, params.index_name);
    const request = pageRequest(query);
    const space = await askPictureSpace(c.env);
    if (/\bapplication\/x-ndjson\b/.test(c.req.header("accept") ?? "")) {
      return inLines(walk(c, index, space, request));
    }
    const [page, tallies] = await Promise.all([
      nextAssets(c.env.DB, index.indexId, request),
      listTallies(c.env.DB, index.accountId, index.indexId),
    ]);
    const isLast = page.next === null;
    return {
      index: toIndexRecord(index, tallies),
      nodes: await mapAtOnce(page.items, CARE.atOnce, (asset) => nodeOf(c, asset, space)),
      health: isLast ? await healthOfIndex(c, index, space) : null,
      total: page.total,
      next_cursor: nextCursor(page),
    };
  },
);

addEndpoint(
  traverseRoutes,
  {
    method: "post",
    path: "/index/{index_name}/traverse",
    summary: "Repair",
    scope: "write",
    params: indexParams,
    response: z
      .object({ job_id: z.string(), state: z.enum(["queued", "running"]) })
      .openapi("Traversal"),
  },
  async (c, { params }) => {
    const index = await requireOwnIndex(c, params.index_name);
    const { jobId, state } = await startTraversal(c.env, index, Date.now());
    return { job_id: jobId, state };
  },
);

/** All nodes from a place on, in the order of the pages; then the index's own health. */
async function* walk(
  c: Context,
  index: MediaIndexRow,
  space: PictureSpace,
  { limit, after }: PageRequest,
): AsyncGenerator {
  for (let at: string | null = after; at !== null;) {
    const page: Page<Asset> = await listAssets(c.env.DB, index.indexId, {}, { limit, after: at });
    for (const asset of page.items) {
      await requireStillValid(c, KEY_RECHECK_MS);
      yield nodeOf(c, asset, space);
    }
    at = page.next;
  }
  const tallies = await listTallies(c.env.DB, index.accountId, index.indexId);
  yield { index: toIndexRecord(index, tallies), health: await healthOfIndex(c, index, space) };
}

async function nodeOf(c: Context, asset: Asset, space: PictureSpace): Promise<Node> {
  const urlOf = mediaUrls(c);
  const [segments, findings] = await Promise.all([
    listSegments(c.env.DB, asset.assetId, 0, Number.MAX_SAFE_INTEGER),
    inspect(c.env, asset, space, Date.now()),
  ]);
  return {
    asset: await toAssetRecord(asset, urlOf),
    segments: await Promise.all(segments.map((one) => toSegmentRecord(one, asset, urlOf))),
    health: toHealth(findings),
  };
}

async function healthOfIndex(c: Context, index: MediaIndexRow, space: PictureSpace) {
  return toHealth(await inspectIndex(c.env, index, space, Date.now()));
}

function toHealth<Code>(findings: Finding<Code>[]) {
  const shown = findings.map(({ code, message }) => ({ code, message }));
  return { ok: findings.length === 0, findings: shown };
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
