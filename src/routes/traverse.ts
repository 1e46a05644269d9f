import { KEY_RECHECK_MS, LIFECYCLE } from "../config.ts";
import { revalidateKey } from "../http/authenticate.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import { type Context, requireCostQuota, createMediaUrlSigner } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { flag, idField, orNull, text } from "../http/fields.ts";
import { nextCursor, pageFields, pageQuery, pageRequest } from "../http/pagination.ts";
import { NDJSON, toNdjson } from "../http/text-stream.ts";
import * as z from "../http/zod.ts";
import { FINDINGS, type Finding, INDEX_FINDINGS } from "../lifecycle/findings.ts";
import { inspectAsset, inspectIndex } from "../lifecycle/inspect.ts";
import { listTraversalPage, startTraversal } from "../lifecycle/traverse.ts";
import { append } from "../lists.ts";
import { type ImageModel, probeImageModel } from "../models/embed.ts";
import { allAssets } from "../store/d1/assets.ts";
import { listTallies } from "../store/d1/indices.ts";
import { indexDatabase } from "../store/index-database/index-database.ts";
import { listSegments } from "../store/index-database/segments.ts";
import type { PageRequest } from "../store/sql.ts";
import type { Asset, MediaIndexRow } from "../types.ts";
import { assetRecord, toAssetRecord } from "./records/asset-record.ts";
import { indexRecord, toIndexRecord } from "./records/index-record.ts";
import { segmentRecord, toSegmentRecord } from "./records/search-result.ts";

export const traverseRoutes = createRouter("Traversal");

const healthSchema = <Codes extends readonly [string, ...string[]]>(codes: Codes) =>
  z.object({
    ok: flag("True if there is no finding.", true),
    findings: z
      .array(
        z.object({
          code: z.enum(codes).describe("What is wrong. docs/operate.md lists the codes."),
          message: text(
            "What is wrong and what to do, in a sentence.",
            "The vectors were made by another model version.",
          ),
        }),
      )
      .describe("Where D1, R2 and Vectorize differ.")
      .openapi({ example: [] }),
  });

const node = z
  .object({
    asset: assetRecord,
    segments: z.array(segmentRecord).describe("Segments of the asset, in order."),
    health: healthSchema(FINDINGS).describe("Health of the asset."),
  })
  .openapi("Node", { description: "An asset, its segments and its health." });
type Node = z.input<typeof node>;

/** Health of the index itself, reported after its last asset. */
const indexHealth = healthSchema(INDEX_FINDINGS).openapi("IndexHealth", {
  description: "Health of the index itself.",
});

const traversalPage = z
  .object({
    index: indexRecord,
    nodes: z.array(node).describe("Assets of the page, in the order of their creation."),
    health: orNull(indexHealth, "Health of the index itself, on the last page; else null."),
    ...pageFields,
  })
  .openapi("TraversalPage", { description: "A page of a walk through an index." });

const traversalLine = z
  .union([node, z.object({ index: indexRecord, health: indexHealth })])
  .openapi("TraversalLine", { description: "A node, or on the last line the index." });

addEndpoint(traverseRoutes, "GET /index/{index_name}/traverse", {
  operationId: "traverseIndex",
  summary: "Walk through an index and check it",
  description:
    "Lists all assets with their segments, and compares what D1, R2 and Vectorize have of them. " +
    "It changes nothing. With `Accept: application/x-ndjson`, the whole walk is streamed as a " +
    "JSON object per line.",
  query: pageQuery,
  response: traversalPage,
  text: { [NDJSON]: { schema: traversalLine } },
  async handle(c, { query }) {
    const index = await requireCallerIndex(c);
    await requireCostQuota(c);
    const imageModel = await probeImageModel(c.env);
    if (/\bapplication\/x-ndjson\b/.test(c.req.header("accept") ?? "")) {
      return toNdjson(traverseIndex(c, index, imageModel, pageRequest(query).after));
    }
    return getPage(c, index, imageModel, pageRequest(query));
  },
});

async function getPage(
  c: Context,
  index: MediaIndexRow,
  imageModel: ImageModel,
  request: PageRequest,
) {
  const [page, tallies] = await Promise.all([
    listTraversalPage(c.env.DB, index.indexId, request),
    listTallies(c.env.DB, index.accountId, index.indexId),
  ]);
  const nodes = await listNodes(c, page.items, imageModel);
  const isWhole = nodes.length === page.items.length;
  const next = isWhole ? page.next : page.items[nodes.length - 1]!.assetId;
  return {
    index: toIndexRecord(c, index, tallies),
    nodes,
    health: next === null ? toHealth(await inspectIndex(c.env, index, Date.now())) : null,
    total: page.total,
    next_cursor: nextCursor({ ...page, next }),
  };
}

/** Characters of segments at which a page ends early: usually, a page has 2 million. */
const MAX_PAGE_CHARACTERS = 12_000_000;

/** Makes the nodes of the first assets: of all of them, unless these have too much text. */
async function listNodes(c: Context, assets: Asset[], imageModel: ImageModel): Promise<Node[]> {
  const nodes: Node[] = [];
  let characters = 0;
  while (nodes.length < assets.length && characters < MAX_PAGE_CHARACTERS) {
    const batch = assets.slice(nodes.length, nodes.length + LIFECYCLE.concurrency);
    const made = await Promise.all(batch.map((asset) => getNode(c, asset, imageModel)));
    append(nodes, made);
    characters += made.reduce((sum, { segments }) => sum + JSON.stringify(segments).length, 0);
  }
  return nodes;
}

addEndpoint(traverseRoutes, "POST /index/{index_name}/traverse", {
  operationId: "repairIndex",
  summary: "Repair an index",
  description:
    "Starts a job that repairs what a traversal finds and syncs followed sources, as the " +
    "schedule does. If one is running already, that one is returned.",
  response: z
    .object({
      job_id: idField("job", "Id of the job."),
      state: z.enum(["queued", "running"]).describe("State of the job."),
    })
    .openapi("Traversal", { description: "The job that repairs an index." }),
  async handle(c) {
    const index = await requireCallerIndex(c);
    const { jobId, state } = await startTraversal(c.env, index, "request", Date.now());
    return { job_id: jobId, state };
  },
});

/**
 * Yields all nodes after a cursor by their creation, then the index with its health. The
 * API key is checked before every node, because the response may take long.
 */
async function* traverseIndex(
  c: Context,
  index: MediaIndexRow,
  imageModel: ImageModel,
  after: string,
): AsyncGenerator {
  for await (const asset of allAssets(c.env.DB, index.indexId, {}, after)) {
    await revalidateKey(c, KEY_RECHECK_MS);
    yield getNode(c, asset, imageModel);
  }
  const tallies = await listTallies(c.env.DB, index.accountId, index.indexId);
  yield {
    index: toIndexRecord(c, index, tallies),
    health: toHealth(await inspectIndex(c.env, index, Date.now())),
  };
}

async function getNode(c: Context, asset: Asset, imageModel: ImageModel): Promise<Node> {
  const signUrl = createMediaUrlSigner(c);
  const [segments, findings] = await Promise.all([
    listSegments(indexDatabase(c.env, asset), asset.assetId),
    inspectAsset(c.env, asset, imageModel, Date.now()),
  ]);
  return {
    asset: await toAssetRecord(asset, signUrl),
    segments: await Promise.all(
      segments.map((segment) => toSegmentRecord(segment, asset, signUrl)),
    ),
    health: toHealth(findings),
  };
}

function toHealth<Code>(findings: Finding<Code>[]) {
  return {
    ok: findings.length === 0,
    findings: findings.map(({ code, message }) => ({ code, message })),
  };
}
