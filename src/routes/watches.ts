import { lineOfText } from "../clean-text.ts";
import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError } from "../errors.ts";
import { mapRecord } from "../field-names.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import {
  type Context,
  countWork,
  requireCostQuota,
  createMediaUrlSigner,
} from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import {
  countField,
  deletedRecord,
  flag,
  idField,
  isoTime,
  list,
  share,
  text,
  time,
} from "../http/fields.ts";
import {
  formFile,
  imageReaders,
  isFormRequest,
  readForm,
  throwImageAsInvalid,
} from "../http/multipart.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";
import { jsonText } from "../http/validation.ts";
import { publicWebhookUrl, webhookUrl, webhookUrlIssues } from "../http/webhook-url.ts";
import * as z from "../http/zod.ts";
import { newId, type WatchId } from "../ids.ts";
import { decodeImage, imageOfBytes } from "../media/pixels/decode-image.ts";
import { WATCHES } from "../parameters.ts";
import { exampleFromTarget } from "../search/example.ts";
import { hasWord } from "../search/query.ts";
import type { Mode } from "../search/request.ts";
import { loadResults } from "../search/results.ts";
import { toStoredHit, toWatchSearch, type WatchMatch } from "../search/watches/match-asset.ts";
import {
  deleteWatch,
  insertWatch,
  listWatches,
  requireWatch,
  updateWatch,
  type Watch,
  type WatchRequest,
} from "../store/d1/watches.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { countMatches, deleteMatches, listMatches } from "../store/index-database/matches.ts";
import { indexObject } from "../store/index-object.ts";
import { toPage } from "../store/sql.ts";
import { ASSET_KINDS, type MediaIndexRow } from "../types.ts";
import { queuedJob, queueJob } from "./records/job-record.ts";
import {
  modesField,
  NO_WORD,
  readFilter,
  searchFilter,
  similarTo,
  withSubject,
} from "./records/search-request.ts";
import { hitRecord, toHitRecord } from "./records/search-result.ts";
import { requireSearchableIndex } from "./searchable-index.ts";

const watchId = idField("watch", "Id of the watch.");

/** Fields that a watch is made of, shown with and changed in. */
const watchFields = z.object({
  name: lineOfText(200)
    .min(1)
    .describe("What it is called in events.")
    .openapi({ example: "Red truck at the gate" }),
  filter: searchFilter.describe("Conditions on the assets, as in a search; empty for all."),
  modes: modesField
    .unwrap()
    .describe("Kinds of evidence that count, as in a search; empty for all."),
  asset_types: list(z.enum(ASSET_KINDS), "Kinds of assets that are compared; empty for all.").max(
    ASSET_KINDS.length,
  ),
  min_probability: share("Lowest `score` of a match: at 0.9, nine in ten or more are right.", 0.9),
  webhook_url: webhookUrl(
    "Public https URL to which its events are sent, instead of the webhook of the index.",
    "truck",
  ).nullable(),
  paused: flag("Whether nothing is announced for now."),
});
const fields = watchFields.shape;

const queryFields = z.object({
  query: lineOfText(LIMITS.queryCharacters, 1)
    .optional()
    .describe("What to watch for, in everyday words. Required without an example.")
    .openapi({ example: "red truck at the gate" }),
  similar_to: similarTo
    .describe("Id of a segment or an asset of the index: matches are like it.")
    .openapi({ example: undefined }),
  filter: fields.filter.default({}),
  modes: fields.modes.default([]),
  asset_types: fields.asset_types.default([]),
  min_probability: fields.min_probability.default(WATCHES.minProbability),
});

const namedFields = queryFields.extend({
  name: fields.name,
  webhook_url: fields.webhook_url.optional(),
  paused: fields.paused.default(false),
});

/** Checks another query of a watch, whose example may need no words. Throws `ValidationError`. */
function requireQuery(query: string | null, { similarTo: example, hasImage }: WatchRequest): void {
  if (example !== null || hasImage) return;
  if (query === null) throw invalid(["body", "query"], "missing", "Field required");
  if (!hasWord(query)) throw invalid(["body", "query"], "value_error", NO_WORD);
}

const watchChange = watchFields.partial().extend({
  query: queryFields.shape.query
    .unwrap()
    .nullable()
    .optional()
    .describe("What to watch for from now on; null, with an example, for what is like that alone.")
    .openapi({ example: "blue truck at the gate" }),
});

const watchRecord = z
  .object({
    watch_id: watchId,
    index_name: text("Name of the index.", "holidays"),
    ...fields,
    query: text(
      "What it watches for; null for an example alone.",
      "red truck at the gate",
    ).nullable(),
    similar_to: text("Id of the segment or asset to be like; null without one.", null).nullable(),
    has_image: flag("Whether the example is an uploaded image.", false),
    webhook_secret: text(
      "Secret that signs what is sent to `webhook_url`: that of the index. Null without a URL, " +
        "and for keys without the scope `admin`.",
      "whsec_C2FVsBQI…",
    ).nullable(),
    matches: countField("Segments that have matched.", 3),
    created_at: time("Creation of the watch. Assets that were added before don't match."),
    updated_at: time("Last change of the watch."),
  })
  .openapi("Watch", { description: "A query that announces each new segment which matches." });

const matchRecord = z
  .object({
    matched_at: time("When the segment became searchable, or its transcript made it match."),
    score: share("Probability that the segment is relevant, from 0 to 1, at that time.", 0.94),
    segment: hitRecord,
  })
  .openapi("WatchMatch", { description: "A segment that has matched a watch." });

function toWatchRequest(
  sent: Omit<z.output<typeof queryFields>, "min_probability">,
  hasImage: boolean,
): WatchRequest {
  const { query = "", similar_to = null, filter, modes, asset_types: assetTypes } = sent;
  const conditions = readFilter(filter);
  return { query, similarTo: similar_to, hasImage, filter, conditions, modes, assetTypes };
}

export const watchRoutes = createRouter("Watches");

const imageForm = z.object({
  watch: jsonText(namedFields.omit({ similar_to: true }))
    .prefault("{}")
    .describe("The other fields, as a JSON object."),
  image_file: formFile().describe("Image to watch for, in any format that can be added."),
});

addEndpoint(watchRoutes, "POST /index/{index_name}/watches", {
  operationId: "createWatch",
  summary: "Create a watch",
  description:
    "Announces from now on each new segment that matches: by the event `watch.matched`, once, " +
    "with its probability. A segment is scored as a search scores it. Send JSON, or, to watch " +
    "for an image, a form with `image_file` and the other fields as JSON in `watch`. " +
    "docs/events.md#watches has recipes.",
  errors: {
    account_full: "The index has its 200 watches, or the account's bytes of records are used up.",
  },
  creates: "record",
  body: withSubject(namedFields),
  form: imageForm,
  formExample: { watch: '{"name": "Our logo"}', image_file: "logo.png" },
  examples: {
    Words: { name: "Red truck at the gate", query: "red truck at the gate" },
    "What is said, in videos of one camera": {
      name: "Our product",
      query: "Sightline",
      modes: ["speech"],
      filter: { channel: "news" },
      min_probability: 0.8,
    },
  },
  rules: (c, { body }) => webhookUrlIssues(c.env, body["webhook_url"], ["body", "webhook_url"]),
  response: watchRecord,
  async handle(c, { body }) {
    const index = await requireCallerIndex(c);
    await requireCostQuota(c); // an image is decoded
    const form = isFormRequest(c.req.raw)
      ? await readForm(c.req.raw, imageForm, { readers: imageReaders })
      : null;
    const sent = form?.watch ?? body;
    const image = form && (await toStoredImage(c.env, form.image_file));
    const issues = webhookUrlIssues(c.env, sent.webhook_url, ["body", "webhook_url"]);
    if (issues.length > 0) throw new ValidationError(issues);
    const request = toWatchRequest(sent, image !== null);
    await exampleFromTarget(c.env, index, request.similarTo);
    const now = Date.now();
    const watch = {
      watchId: newId("wat", now),
      accountId: index.accountId,
      indexId: index.indexId,
      name: sent.name,
      request,
      minProbability: sent.min_probability,
      webhookUrl: sent.webhook_url ?? null,
      paused: Number(sent.paused),
      createdAt: now,
      updatedAt: now,
      image,
    };
    await insertWatch(c.env.DB, watch);
    return (await toRecords(c, index, [watch]))[0]!;
  },
});

async function requireCallerWatch(c: Context, params: Record<"index_name" | "watch_id", string>) {
  const index = await requireCallerIndex(c);
  return { index, watch: await requireWatch(c.env.DB, index.indexId, params.watch_id) };
}

async function toRecords(c: Context, index: MediaIndexRow, watches: readonly Watch[]) {
  const { scopes } = c.get("caller");
  const ids = watches.map(({ watchId: id }) => id);
  const counts = await countMatches(indexDatabases(c.env, index), ids);
  const isSigned = scopes.includes("admin") && watches.some(({ webhookUrl }) => webhookUrl);
  const object = indexObject(c.env, index.indexId);
  const [newest] = isSigned ? await object.webhookSecrets() : [];
  return watches.map((watch) => {
    const { request, webhookUrl: url } = watch;
    const row = { ...watch, ...request };
    return mapRecord(watchRecord, row, {
      index_name: index.name,
      query: request.query === "" ? null : request.query,
      modes: request.modes as Mode[],
      webhook_url: url === null ? null : publicWebhookUrl(url, scopes),
      webhook_secret: (url && newest?.secret) ?? null,
      paused: watch.paused === 1,
      matches: counts.get(watch.watchId) ?? 0,
    });
  });
}

addEndpoint(watchRoutes, "GET /index/{index_name}/watches", {
  operationId: "listWatches",
  summary: "List the watches of an index",
  description:
    "Lists the watches of an index, the oldest first, with how many segments have matched each.",
  query: pageQuery,
  response: pageOf("watches", watchRecord),
  async handle(c, { query }) {
    const index = await requireCallerIndex(c);
    const page = await listWatches(c.env.DB, index.indexId, pageRequest(query));
    const watches = await toRecords(c, index, page.items);
    return { watches, total: page.total, next_cursor: nextCursor(page) };
  },
});

addEndpoint(watchRoutes, "GET /index/{index_name}/watches/{watch_id}", {
  operationId: "getWatch",
  summary: "Get a watch",
  description: "Returns a watch, and how many segments have matched it.",
  response: watchRecord,
  async handle(c, { params }) {
    const { index, watch } = await requireCallerWatch(c, params);
    return (await toRecords(c, index, [watch]))[0]!;
  },
});

addEndpoint(watchRoutes, "PATCH /index/{index_name}/watches/{watch_id}", {
  operationId: "updateWatch",
  summary: "Change a watch",
  description:
    "Changes the fields that are given, for what becomes searchable from now on. Its matches " +
    "stay, and a segment that has matched doesn't match again. An example can't be changed: " +
    "create another watch.",
  errors: {
    conflict: "What it watches for was changed at the same time.",
  },
  body: watchChange,
  examples: {
    Pause: { paused: true },
    "Watch for something else": { query: "blue truck at the gate" },
  },
  rules: (c, { body }) => webhookUrlIssues(c.env, body["webhook_url"], ["body", "webhook_url"]),
  response: watchRecord,
  async handle(c, { params, body }) {
    const { index, watch } = await requireCallerWatch(c, params);
    const { request: stored } = watch;
    const { query, filter = stored.filter } = body;
    if (query !== undefined) requireQuery(query, stored);
    const request = {
      ...stored,
      query: query === undefined ? stored.query : (query ?? ""),
      filter,
      conditions: readFilter(filter),
      modes: body.modes ?? stored.modes,
      assetTypes: body.asset_types ?? stored.assetTypes,
    };
    const isScoped = Boolean(body.filter ?? body.modes ?? body.asset_types);
    const change = {
      name: body.name,
      request: isScoped || request.query !== stored.query ? request : undefined,
      minProbability: body.min_probability,
      webhookUrl: body.webhook_url,
      paused: body.paused,
    };
    await updateWatch(c.env.DB, watch, change, Date.now());
    const { watch: changed } = await requireCallerWatch(c, params);
    return (await toRecords(c, index, [changed]))[0]!;
  },
});

addEndpoint(watchRoutes, "DELETE /index/{index_name}/watches/{watch_id}", {
  operationId: "deleteWatch",
  summary: "Delete a watch",
  description:
    "Deletes a watch and its list of matches for good. The segments stay. `paused` stops it for a while.",
  response: deletedRecord("watch"),
  async handle(c, { params }) {
    const { index, watch } = await requireCallerWatch(c, params);
    await deleteMatches(indexDatabases(c.env, index), watch.watchId);
    await deleteWatch(c.env.DB, watch.watchId);
    return { watch_id: params.watch_id, deleted: true };
  },
});

addEndpoint(watchRoutes, "GET /index/{index_name}/watches/{watch_id}/matches", {
  operationId: "listWatchMatches",
  summary: "List the matches of a watch",
  description: "Lists the segments that have matched, those of the newest assets first.",
  query: pageQuery,
  response: pageOf("matches", matchRecord),
  async handle(c, { params, query }) {
    const { index, watch } = await requireCallerWatch(c, params);
    const databases = indexDatabases(c.env, index);
    const { limit, after } = pageRequest(query);
    const [rows, counts] = await Promise.all([
      listMatches(databases, watch.watchId, after, limit + 1),
      countMatches(databases, [watch.watchId]),
    ]);
    const total = counts.get(watch.watchId) ?? 0;
    const page = toPage(rows, total, limit, ({ segmentId }) => segmentId);
    const stored = page.items.map(({ segmentId, score, details }, i) =>
      toStoredHit({ segmentId, score, ...(details as Omit<WatchMatch, "segmentId" | "score">) }, i),
    );
    const hits = await loadResults(c.env, index, { hits: stored });
    const matchedAt = new Map(page.items.map((match) => [match.segmentId, match.matchedAt]));
    const sign = createMediaUrlSigner(c);
    const matches = await Promise.all(
      hits.map(async (hit) => ({
        matched_at: isoTime(matchedAt.get(hit.segment.segmentId)!),
        score: hit.score,
        segment: await toHitRecord(hit, sign),
      })),
    );
    return { matches, total, next_cursor: nextCursor(page) };
  },
});

const PREVIEW =
  "Starts a job that finds what the watch would have announced of the assets that are there. Its " +
  "result has `matches_by_day`, the ten `best` segments and the ten with scores `nearest_threshold`, " +
  "and for each of five `thresholds` the number of matches and the share that is expected to be right.";

addEndpoint(watchRoutes, "POST /index/{index_name}/watches/preview", {
  operationId: "previewNewWatch",
  summary: "Preview a watch before it is created",
  description: `${PREVIEW} To preview an image, create the watch with \`paused\` first.`,
  body: withSubject(queryFields),
  examples: { Words: { query: "red truck at the gate" } },
  response: queuedJob,
  async handle(c, { params, body }) {
    const index = await requireSearchableIndex(c, params.index_name);
    const request = toWatchRequest(body, false);
    await exampleFromTarget(c.env, index, request.similarTo);
    return startPreview(c, index, request, body.min_probability, null);
  },
});

addEndpoint(watchRoutes, "POST /index/{index_name}/watches/{watch_id}/preview", {
  operationId: "previewWatch",
  summary: "Preview a watch",
  description: PREVIEW,
  response: queuedJob,
  async handle(c, { params }) {
    const index = await requireSearchableIndex(c, params.index_name);
    const watch = await requireWatch(c.env.DB, index.indexId, params.watch_id);
    return startPreview(c, index, watch.request, watch.minProbability, watch.watchId);
  },
});

async function startPreview(
  c: Context,
  { accountId, indexId, name: indexName }: MediaIndexRow,
  request: WatchRequest,
  minProbability: number,
  id: WatchId | null,
) {
  const job = { kind: "preview_watch" as const, accountId, indexId, indexName, watchId: id };
  const queued = await queueJob(c.env, { ...job, request: toWatchSearch(request), minProbability });
  countWork(c, "searches");
  return queued;
}

/** Characters of an image in base64, in a row of D1 that may have two million. */
const MAX_IMAGE_CHARACTERS = 1_000_000;

/** Returns an image as a JPEG in base64. Throws a `ValidationError`, and `too_large`. */
async function toStoredImage(env: Env, image: Uint8Array): Promise<string> {
  const { jpeg } = await decodeImage(env, imageOfBytes(image)).catch(throwImageAsInvalid);
  const text = Buffer.from(jpeg).toString("base64");
  if (text.length <= MAX_IMAGE_CHARACTERS) return text;
  throw new AppError("too_large", "The image has too much detail to be watched for; crop it.");
}
