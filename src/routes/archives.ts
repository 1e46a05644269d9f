import { z } from "@hono/zod-openapi";
import { KEY_RECHECK_MS, LIFECYCLE, LIMITS } from "../config.ts";
import { AppError, failureOf, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import { revalidateKey } from "../http/authenticate.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { NDJSON, readLines, toNdjson } from "../http/ndjson.ts";
import { queryBool } from "../http/query-params.ts";
import { createMediaUrlSigner, type MediaUrlSigner } from "../http/signed-url.ts";
import { parseJson, validate } from "../http/validation.ts";
import { newId } from "../ids.ts";
import { type ArchiveLine, archiveLine, isArchivedFile } from "../ingest/archive-line.ts";
import { getArchive, readArchive } from "../store/archive.ts";
import { listAssets } from "../store/d1/assets.ts";
import { isAssetLive } from "../store/deletions.ts";
import { startJob } from "../store/job-queue.ts";
import {
  archiveLineKey,
  assetPrefix,
  deleteArchiveLines,
  listObjects,
  putArchiveLine,
} from "../store/r2/object-keys.ts";
import type { Asset, MediaIndexRow } from "../types.ts";
import { STORAGE_FULL } from "./records/fields.ts";
import { indexParams } from "./records/index-record.ts";
import { queuedJob } from "./records/job-record.ts";

/** Routes that move an index between deployments (docs/backup.md). */
export const archiveRoutes = createRouter("Archives");

const exportQuery = z.object({
  media: queryBool(false).describe(
    "Whether the archive names the files, by URLs that are valid for an hour.",
  ),
  after: z
    .string()
    .default("")
    .describe("Id of the last asset of an export that was cut off: this one continues after it."),
});

addEndpoint(
  archiveRoutes,
  {
    method: "get",
    path: "/index/{index_name}/export",
    operationId: "exportIndex",
    summary: "Export an index",
    description:
      "Streams an archive of the index: one JSON object per line with the records of each asset, its " +
      "segments, transcript and embeddings. docs/backup.md describes the lines.",
    scope: "read",
    params: indexParams,
    query: exportQuery,
    text: {
      [NDJSON]: {
        schema: z
          .looseObject({
            kind: z.enum(["index", "asset", "end"]).describe("What the line describes."),
          })
          .openapi("ArchiveLine", { description: "A line of an archive: docs/backup.md." }),
        example: { kind: "index", index_name: "holidays", description: "", metadata: {} },
      },
    },
  },
  exportIndex,
);

async function exportIndex(
  c: Context,
  { params, query }: Input<typeof indexParams, typeof exportQuery>,
) {
  const index = await requireCallerIndex(c, params.index_name);
  return toNdjson(listLines(c, index, query));
}

/** Assets that one statement lists. */
const PAGE = 100;

/**
 * Yields the index, its searchable assets by id, and their number. Ends without it after
 * `LIFECYCLE.maxExported` assets. The API key is checked before every asset, because the response
 * may take long.
 */
async function* listLines(
  c: Context,
  { indexId, name, description, metadata }: MediaIndexRow,
  { media, after }: z.output<typeof exportQuery>,
): AsyncGenerator<ArchiveLine> {
  yield { kind: "index", index_name: name, description, metadata };
  const signUrl = media ? createMediaUrlSigner(c) : null;
  let assetCount = 0;
  for (let next: string | null = after; next !== null;) {
    const page = await listAssets(
      c.env.DB,
      indexId,
      { state: "ready" },
      { limit: PAGE, after: next },
    );
    for (const asset of page.items) {
      await revalidateKey(c, KEY_RECHECK_MS);
      const archive = (await readArchive(c.env, asset)) ?? (await getStored(c.env, asset));
      if (!archive) continue;
      const { location: _, ...record } = archive;
      const files = signUrl ? await listFiles(c.env, asset, signUrl) : [];
      if (!(await isAssetLive(c.env.DB, asset.assetId))) continue;
      yield { kind: "asset", record, files };
      if (++assetCount === LIFECYCLE.maxExported) return;
    }
    ({ next } = page);
  }
  yield { kind: "end", assets: assetCount };
}

/** Returns the stored record of an asset; null without one that can be read. */
async function getStored({ MEDIA }: Env, asset: Asset) {
  try {
    return await getArchive(MEDIA, asset);
  } catch (error) {
    if (failureOf(error).code === "conflict") return null;
    throw error;
  }
}

async function listFiles(env: Env, asset: Asset, signUrl: MediaUrlSigner) {
  const prefix = assetPrefix(asset);
  const objects = await listObjects(env.MEDIA, prefix);
  const paths = objects.map(({ key }) => key.slice(prefix.length)).filter(isArchivedFile);
  return Promise.all(
    paths.map(async (path) => ({ path, url: await signUrl(prefix + path, path) })),
  );
}

addEndpoint(
  archiveRoutes,
  {
    method: "post",
    path: "/index/{index_name}/import-archive",
    operationId: "importArchive",
    summary: "Import an archive",
    description:
      "Starts a job that adds the assets of an archive, without calling a model. Assets that the " +
      "index has already are left out. Send at most 2,000 lines at a time. Fields and files are " +
      "checked as in an ingest: docs/backup.md lists the limits.",
    errors: { account_full: STORAGE_FULL },
    scope: "write",
    params: indexParams,
    binaryMediaType: NDJSON,
    response: queuedJob,
  },
  importIndex,
);

/** Stores the lines of an archive, all of them or none, and starts the job that imports them. */
async function importIndex(c: Context, { params }: Input<typeof indexParams>) {
  const { accountId, indexId, name } = await requireCallerIndex(c, params.index_name);
  const jobId = newId("job");
  let lineCount = 0;
  let isComplete = false;
  try {
    for await (const bytes of readLines(c.req.raw.body ?? [], LIMITS.archiveLineBytes)) {
      if (lineCount === LIMITS.archiveLineCount) throw tooManyLines();
      isComplete = parseLine(bytes, lineCount).kind === "end";
      await putArchiveLine(c.env.MEDIA, archiveLineKey(indexId, jobId, lineCount), bytes);
      lineCount += 1;
    }
    if (lineCount === 0) throw invalid(["body"], "missing", "Field required");
    const job = { jobId, accountId, indexId, indexName: name, lineCount, isComplete };
    await startJob(c.env, { kind: "import_archive", ...job }, Date.now());
  } catch (error) {
    await deleteArchiveLines(c.env.MEDIA, { indexId, jobId, lineCount });
    throw error;
  }
  return { job_id: jobId, state: "queued" as const };
}

function tooManyLines(): AppError {
  const message = `An archive may have ${LIMITS.archiveLineCount} lines: send it in parts.`;
  return new AppError("too_large", message);
}

/** Parses a line. Throws `ValidationError` with the number of the line, from 0, in `loc`. */
function parseLine(bytes: Uint8Array, number: number): ArchiveLine {
  const value = parseJson(bytes, ["body", number], LIMITS.archiveLineValues);
  const issues: ValidationIssue[] = [];
  const line = validate("body", archiveLine, value, issues);
  if (line) return line;
  for (const issue of issues) issue.loc.splice(1, 0, number);
  throw new ValidationError(issues);
}
