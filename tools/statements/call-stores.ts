import { INDEX_DATABASE_MIGRATIONS } from "../../src/durable/index-database-schema.ts";
import { IndexDatabase } from "../../src/durable/index-database.ts";
import { AppError } from "../../src/errors.ts";
import { trustedId } from "../../src/ids.ts";
import { QuotaGuard } from "../../src/store/d1/quotas.ts";
import { IndexDb } from "../../src/store/index-database/index-database.ts";
import { possibleIds } from "../../src/store/vectorize/vectors.ts";
import { recordedD1, recordedState, type StatementLog } from "./recorded-databases.ts";
import { D1_ROWS, INDEX_ROWS } from "./sample-rows.ts";
import { FIELDS, SEGMENT_ID } from "./samples.ts";
import { FULL_TEXT, GROUPINGS, SEGMENT_QUERIES, WIDE_SCOPE } from "./search-samples.ts";
import { argumentsOf, type Exceptions, isStoreFunction } from "./store-calls.ts";

/**
 * Calls each function that runs statements, of modules of `src/store/`, with databases of its own.
 * Returns a sentence for each that fails otherwise than by an `AppError`, such as `not_found`.
 */
export async function callStores(log: StatementLog, files: readonly string[]): Promise<string[]> {
  const problems: string[] = [];
  for (const file of files) {
    const module = (await import(`../../${file}`)) as Record<string, unknown>;
    for (const [name, work] of Object.entries(module)) {
      if (file === "src/store/sql.ts" || !isStoreFunction(work)) continue;
      log.caller = `${file.slice("src/".length)} ${name}`;
      for (const given of EXCEPTIONS[name] ?? [{}]) {
        try {
          const bindings = bindingsFor(log, file, name);
          await work(...argumentsOf(work, { ...bindings, ...given }));
        } catch (error) {
          if (!isExpected(error)) problems.push(`${log.caller}: ${String(error)}`);
        }
      }
    }
  }
  return problems;
}

/** Whether a function failed only because the samples don't fit together. */
function isExpected(error: unknown): boolean {
  return error instanceof AppError || /constraint failed/.test(String(error));
}

/** Functions in `index-database/` whose parameter `db` is D1, and elsewhere an index's database. */
const OTHERS = new Set([
  "reindexFullText",
  "listFirstSegments",
  "listUnknownSegments",
  "setSegmentTranscripts",
  "listUnembedded",
  "setEmbedded",
]);

function bindingsFor(log: StatementLog, file: string, name: string): Record<string, unknown> {
  const DB = recordedD1(log, D1_ROWS);
  const space = { describe: async () => ({ vectorCount: 1 }) };
  const env = {
    DB,
    INDEX_DATABASE: { getByName: () => database },
    JOBS: { send: async () => {} },
    MEDIA: {
      get: async () => null,
      put: async () => ({}),
      head: async () => null,
      list: async () => ({ objects: [], truncated: false }),
    },
    TEXT_VECTORS_1: space,
    IMAGE_VECTORS_1: space,
  } as unknown as Env;
  const state = recordedState(log, "IndexDatabase", INDEX_DATABASE_MIGRATIONS, INDEX_ROWS);
  const database = new IndexDatabase(state, env);
  const index = new IndexDb(env, { indexId: trustedId(String(FIELDS["indexId"])), shard: 0 });
  const isOfIndex = file.includes("/index-database/") !== OTHERS.has(name);
  return {
    env,
    index: file.includes("/d1/") ? FIELDS : index,
    databases: [index],
    db: isOfIndex ? index : DB,
  };
}

const SEGMENT = {
  segment_id: SEGMENT_ID,
  keyframe_ms: 0,
  caption: "",
  transcript: "",
  on_screen_text: "",
  labels: [],
  boxes: [],
};
const ARCHIVE = {
  asset_id: "vid_2",
  asset_type: "video",
  title: "title",
  warnings: [],
  source: { kind: "upload" },
  content_type: "video/mp4",
  size_bytes: 1,
  sha256: "other",
  width: 1,
  height: 1,
  duration_ms: 1,
  fps: 1,
  has_audio: true,
  language: "en",
  technical: {},
  metadata: {},
  keyframe_ms: 0,
  segments: [SEGMENT],
  created_at: 0,
  transcript: null,
  location: { shard: 0, vector_pair: 1, job_id: "job_2", transcript_job_id: null },
};
const CLAIMED = { state: "running", progress: 1, result: {} };

const EXCEPTIONS: Exceptions = {
  observeVectors: [], // runs no statement, and waits
  getTechnical: [], // runs that of getWaveform
  claimJob: [{}, { jobId: "job_2" }],
  updateProperties: [
    {
      properties: { hasAudio: true, warnings: [] },
      added: {
        quota: new QuotaGuard(trustedId(String(FIELDS["accountId"])), { stored_bytes: 1 }),
        storedBytes: 1,
        untoldMs: 1,
      },
    },
  ],
  insertAsset: [{ asset: { ...FIELDS, assetId: "vid_2", jobId: "job_2", sha256: "other" } }],
  insertUpload: [{ upload: { ...FIELDS, uploadId: "upl_2" } }],
  insertJob: [{ job: { ...FIELDS, jobId: "job_2" } }],
  startJob: [{ job: { ...FIELDS, jobId: "job_2" }, room: "none" }],
  updateJob: [CLAIMED, { ...CLAIMED, accountId: undefined }],
  putSource: [{ source: FIELDS }],
  updateSource: [{ change: { listing: {}, syncCursor: null, syncedAt: 1 } }],
  insertStoredAsset: [{ record: ARCHIVE }],
  insertArchivedSegments: [{ segments: [SEGMENT] }],
  updateTranscripts: [{ segments: [{ segmentId: SEGMENT_ID, transcript: "words" }] }],
  recordVectors: [
    { ids: possibleIds(trustedId(SEGMENT_ID)), candidates: possibleIds(trustedId(SEGMENT_ID)) },
  ],
  putTranscript: [{ source: "upload" }],
  setCueCount: [{ cues: 1 }],
  listScope: [{ scope: WIDE_SCOPE }],
  listNewestSegments: [
    { scope: WIDE_SCOPE, without: "words" },
    { scope: WIDE_SCOPE, without: null },
  ],
  listGroups: GROUPINGS.map((grouping) => ({
    scope: WIDE_SCOPE,
    grouping,
    options: { order: "segments", limit: 1 },
  })),
  countMatches: [{ scope: WIDE_SCOPE, search: FULL_TEXT }],
  countInDatabases: [{ fullText: FULL_TEXT }],
  insertWatch: [{ watch: { ...FIELDS, watchId: "wat_2" } }],
  updateWatch: [{ webhookUrl: "https://example.org" }],
  listMatchesSince: [{ after: 0 }],
  findScopesOf: [{ scopes: [WIDE_SCOPE] }],
  findSegments: SEGMENT_QUERIES.map((query) => ({ query })),
  writeAssetState: [{ revision: 2 }],
};
