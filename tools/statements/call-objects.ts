import { EVENTS } from "../../src/config.ts";
import { INDEX_DATABASE_MIGRATIONS } from "../../src/durable/index-database-schema.ts";
import { IndexDatabase } from "../../src/durable/index-database.ts";
import { MEDIA_INDEX_MIGRATIONS } from "../../src/durable/media-index-schema.ts";
import { MediaIndex } from "../../src/durable/media-index.ts";
import { ModelLimiter, MODEL_LIMITER_MIGRATIONS } from "../../src/durable/model-limiter.ts";
import { type AssetId, eventId, type IndexId, trustedId } from "../../src/ids.ts";
import { recordedD1, recordedState, type StatementLog } from "./recorded-databases.ts";
import { INDEX_ROWS } from "./sample-rows.ts";
import { FIELDS } from "./samples.ts";
import { FULL_TEXT, SEGMENT_QUERIES } from "./search-samples.ts";

const INDEX_ID: IndexId = trustedId(String(FIELDS["indexId"]));
const INDEX = { indexId: INDEX_ID, indexName: "name" };
const ASSET: AssetId = trustedId(String(FIELDS["assetId"]));
const PART = { step: "fetch", part: 0 } as const;
const FAILURE = { code: "internal", message: "message" } as const;

/** Calls the methods of the objects' classes that run statements. */
export async function callObjects(log: StatementLog): Promise<void> {
  await callIndexDatabase(log);
  await callMediaIndex(log);
  await callModelLimiter(log);
}

async function callIndexDatabase(log: StatementLog): Promise<void> {
  log.caller = "durable/index-database.ts";
  const state = recordedState(log, "IndexDatabase", INDEX_DATABASE_MIGRATIONS, INDEX_ROWS);
  const database = new IndexDatabase(state, {} as Env);
  for (const query of SEGMENT_QUERIES) await database.querySegments(query);
  await database.countTerms(FULL_TEXT);
  await database.queryNewSegments(
    ASSET,
    SEGMENT_QUERIES.map(({ rules, counts }) => ({ fullText: FULL_TEXT, rules, counts })),
  );
}

async function callMediaIndex(log: StatementLog): Promise<void> {
  log.caller = "durable/media-index.ts";
  const seq = EVENTS.retainedCount - 1;
  const state = recordedState(
    log,
    "MediaIndex",
    MEDIA_INDEX_MIGRATIONS,
    `INSERT INTO events (seq, at, type, data) VALUES (${seq}, 0, 'webhook.test', '{}')`,
  );
  const queue = { sendBatch: async () => {} };
  const env = { DB: recordedD1(log, ""), INGEST: queue, WEBHOOKS: queue } as unknown as Env;
  const object = new MediaIndex(state, env);
  await object.setWebhook(INDEX, "https://example.org");
  await object.start(INDEX_ID, ASSET, "video");
  await object.claim(ASSET, PART);
  await object.release(ASSET, PART, FAILURE, Infinity);
  await object.alarm();
  await object.listDeliveries(Number.MAX_SAFE_INTEGER, 10);
  await object.claimDelivery(seq + 1);
  await object.settleDelivery(seq + 1, { statusCode: 410, error: "gone" });
  const stream = await object.subscribe(INDEX, eventId(INDEX_ID, seq));
  if (stream instanceof ReadableStream) await stream.cancel();
  await object.deleteAsset(ASSET);
  await object.close();
}

async function callModelLimiter(log: StatementLog): Promise<void> {
  log.caller = "durable/model-limiter.ts";
  const state = recordedState(log, "ModelLimiter", MODEL_LIMITER_MIGRATIONS);
  const object = new ModelLimiter(state, {} as Env);
  await object.take("model", "text", { callsPerMinute: 10, priority: "background", count: 1 });
  await object.recordLimit("model", "refused");
  await object.listLimits();
}
