import { KEY_RECHECK_MS, LIFECYCLE, LIMITS } from "../config.ts";
import { AppError, ValidationError, type ValidationIssue, invalid } from "../errors.ts";
import { revalidateKey } from "../http/authenticate.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import { type Context, type MediaUrlSigner, createMediaUrlSigner } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { flag, text } from "../http/fields.ts";
import { NDJSON, readLines, toNdjson } from "../http/text-stream.ts";
import { parseJson, validate } from "../http/validation.ts";
import * as z from "../http/zod.ts";
import { newId } from "../ids.ts";
import {
  type ArchiveLine,
  archivedPaths,
  archiveLine,
  type ArchiveRecord,
} from "../ingest/archive-line.ts";
import { withLineMemory } from "../isolate-budget.ts";
import { readArchive } from "../lifecycle/archives.ts";
import { isAssetLive } from "../store/asset-changes.ts";
import { allAssets } from "../store/d1/assets.ts";
import { startJob } from "../store/d1/jobs.ts";
import {
  archiveLineKey,
  assetPrefix,
  deleteArchiveLines,
  listObjects,
  putObject,
} from "../store/r2/object-keys.ts";
import type { Asset, MediaIndexRow } from "../types.ts";
import { queuedJob } from "./records/job-record.ts";

/** Routes that move an index between deployments (docs/operate.md). */
export const archiveRoutes = createRouter("Archives");

const exportQuery = z.object({
  media: flag("Whether the archive names the files, by URLs that are valid for an hour.").default(
    false,
  ),
  after: text("Id of the last asset of an export that was cut off, to continue it.").default(""),
});

addEndpoint(archiveRoutes, "GET /index/{index_name}/export", {
  operationId: "exportIndex",
  summary: "Export an index",
  description:
    "Streams an archive of the index: one JSON object per line with the records of each asset, its " +
    "segments, transcript and embeddings. docs/operate.md describes the lines.",
  query: exportQuery,
  text: {
    [NDJSON]: {
      schema: z
        .looseObject({
          kind: z.enum(["index", "asset", "end"]).describe("What the line describes."),
        })
        .openapi("ArchiveLine", { description: "A line of an archive: docs/operate.md." }),
      example: { kind: "index", index_name: "holidays", description: "", metadata: {} },
    },
  },
  async handle(c, { query }) {
    const index = await requireCallerIndex(c);
    return toNdjson(listLines(c, index, query));
  },
});

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
  for await (const asset of allAssets(c.env.DB, indexId, { state: "ready" }, after)) {
    await revalidateKey(c, KEY_RECHECK_MS);
    const record = await readArchive(c.env, asset);
    if (!record) continue;
    const files = signUrl ? await listFiles(c.env, asset, record, signUrl) : [];
    if (!(await isAssetLive(c.env.DB, asset.assetId))) continue;
    yield { kind: "asset", record, files };
    if (++assetCount === LIFECYCLE.maxExported) return;
  }
  yield { kind: "end", assets: assetCount };
}

async function listFiles(env: Env, asset: Asset, record: ArchiveRecord, sign: MediaUrlSigner) {
  const prefix = assetPrefix(asset);
  const paths = archivedPaths(record);
  const stored = (await listObjects(env.MEDIA, prefix)).map(({ key }) => key.slice(prefix.length));
  const named = stored.filter((path) => paths.has(path));
  return Promise.all(named.map(async (path) => ({ path, url: await sign(prefix + path, path) })));
}

addEndpoint(archiveRoutes, "POST /index/{index_name}/import-archive", {
  operationId: "importArchive",
  summary: "Import an archive",
  description:
    "Starts a job that adds the assets of an archive, without calling a model. Assets that the " +
    "index has already are left out. Send at most 2,000 lines at a time. Fields and files are " +
    "checked as in an ingest: docs/operate.md lists the limits.",
  binaryMediaType: NDJSON,
  response: queuedJob,
  /** Stores the lines of an archive, all of them or none, and starts the job that imports them. */
  async handle(c) {
    const { accountId, indexId, name } = await requireCallerIndex(c);
    const jobId = newId("job");
    let lineCount = 0;
    let isComplete = false;
    try {
      for await (const bytes of readLines(c.req.raw.body ?? [], LIMITS.archiveLineBytes)) {
        if (lineCount === LIMITS.archiveLineCount) {
          const message = `An archive may have ${lineCount} lines: send it in parts.`;
          throw new AppError("too_large", message);
        }
        const number = lineCount;
        const parse = async () => parseLine(bytes, number).kind === "end";
        isComplete = await withLineMemory(bytes.length, parse);
        await putObject(c.env.MEDIA, archiveLineKey(indexId, jobId, lineCount), bytes);
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
  },
});

/** Parses a line. Throws `ValidationError` with the number of the line, from 0, in `loc`. */
function parseLine(bytes: Uint8Array, number: number): ArchiveLine {
  const value = parseJson(bytes, ["body", number], LIMITS.archiveLineValues);
  const issues: ValidationIssue[] = [];
  const line = validate("body", archiveLine, value, issues);
  if (line) return line;
  for (const issue of issues) issue.loc.splice(1, 0, number);
  throw new ValidationError(issues);
}
