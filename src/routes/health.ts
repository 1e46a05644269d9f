import { CONNECTIONS, mapConcurrent, raceAbort } from "../concurrency.ts";
import { CAPACITY, HEALTH_CHECK_MS, VERSION } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import { mapRecord } from "../field-names.ts";
import { authenticate } from "../http/authenticate.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, jsonResponse } from "../http/endpoint.ts";
import { flag, int, number, oneOf, text, time } from "../http/fields.ts";
import * as z from "../http/zod.ts";
import { log } from "../log.ts";
import { modelLimiter } from "../models/call-limiter.ts";
import { probeDatabase } from "../store/d1/accounts.ts";
import {
  type BindingCall,
  type Fill,
  getDatabaseFill,
  getOldestWork,
  listBindingCalls,
  listFills,
  RESOURCES,
} from "../store/deployment.ts";

const BINDING_STATES = ["ok", "unavailable", "timeout"] as const;
const FILL_STATES = ["ok", "filling", "full"] as const;

const seconds = (description: string) => number(description, 0.012).nullable();

const fill = z.object({
  resource: oneOf(RESOURCES, "`database` is D1, `index_database` the fullest of an index."),
  vector_pair: int("Number of the Vectorize pair; null for D1 and objects.", null).nullable(),
  state: oneOf(FILL_STATES, "`full`: the soft limit is reached."),
  used: int("Bytes, vectors or shards.", 12_300_000),
  soft_limit: int("Amount at which nothing new is added.", 9_000_000_000),
  limit: int("Limit of the platform.", 10_000_000_000),
});

const deploymentRecord = z
  .object({
    bindings: z
      .array(
        z.object({
          binding: text("Name of the binding.", "DB"),
          state: oneOf(BINDING_STATES, "Whether it answered, in time."),
        }),
      )
      .describe("Each binding that doesn't bill calls. Others are for `npm run smoke`."),
    oldest_work: z
      .object({
        queued_asset_seconds: seconds("Time for which a queued asset hasn't changed; null: none."),
        queued_job_seconds: seconds("The same for a queued job."),
      })
      .nullable()
      .describe("How long the oldest work has waited."),
    last_swept_at: time("When the cron trigger ran, due once a minute; null: never.").nullable(),
    fill: z.array(fill).nullable().describe("How full the stores are."),
    model_limits: z
      .array(
        z.object({
          model: text("Name of the model.", "@cf/baai/bge-m3"),
          code: text("Code of Workers AI, or `refused` by the service itself.", "3036"),
          calls: int("Number of such calls.", 2),
        }),
      )
      .nullable()
      .describe("Calls of the last hour that met a limit."),
  })
  .describe("What can't be read, because a binding doesn't answer, is null.");

/** Routes about the service itself. They need no API key unless they say so. */
export const healthRoutes = createRouter("Service");

addEndpoint(healthRoutes, "GET /health", {
  operationId: "getHealth",
  summary: "Check the service",
  description:
    "Responds with 200 if the service can answer requests. With `deep`, it checks each binding " +
    "and reports how full the deployment is.",
  errors: {
    unauthorized: "`deep` needs an API key.",
    forbidden: "`deep` needs the scope `operator`.",
  },
  scope: null,
  query: z.object({
    deep: flag(
      "Checks each binding and reports how full the deployment is. Needs an API key with the " +
        "scope `operator`. The status is 503 if the service can't serve requests.",
    ).default(false),
  }),
  response: z
    .object({
      service: z.literal("sightline").describe("Name of the service."),
      ok: flag("Whether it can answer requests.", true),
      version: text("Version of the API.", VERSION),
      deployment: deploymentRecord.optional().describe("Only with `deep`."),
    })
    .openapi("Health", { description: "State of the service." }),
  async handle(c, { query }) {
    if (query.deep) return getDeepHealth(c);
    await probeDatabase(c.env.DB);
    return { service: "sightline" as const, ok: true, version: VERSION };
  },
});

async function getDeepHealth(c: Context): Promise<Response> {
  await withinLimit(authenticate(c, "operator")).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    const message = "The database doesn't answer, so that the API key can't be checked.";
    throw new AppError("upstream_unavailable", message, { cause: error });
  });
  const { ok, ...health } = await inspectDeployment(c.env, Date.now());
  const deployment = mapRecord(deploymentRecord, health, {});
  const record = { service: "sightline", ok, version: VERSION, deployment };
  if (ok) return jsonResponse(record, 200);
  return jsonResponse({ detail: "The database doesn't answer.", ...record }, 503);
}

/**
 * Calls every binding that doesn't bill calls once, each for at most `HEALTH_CHECK_MS`, and reads
 * how full they are. What can't be read, because a binding doesn't answer, is null.
 */
async function inspectDeployment(env: Env, now: number) {
  const limiter = modelLimiter(env);
  const limitCall = { binding: "MODEL_LIMITER", call: () => limiter.listLimits() };
  const [bindings, oldestWork, database, fills, limits] = await Promise.all([
    mapConcurrent([...listBindingCalls(env), limitCall], CONNECTIONS, checkBinding),
    readOrNull(getOldestWork(env.DB, now)),
    readOrNull(getDatabaseFill(env)),
    readOrNull(listFills(env)),
    readOrNull(limiter.listLimits()),
  ]);
  return {
    // every request needs D1
    ok: bindings.every(({ binding, state }) => binding !== "DB" || state === "ok"),
    bindings,
    oldestWork,
    lastSweptAt: database?.sweptAt ?? null,
    fill: fills?.map((one) => Object.assign(one, { state: stateOf(one) })) ?? null,
    modelLimits: limits?.map(({ model, code, count }) => ({ model, code, calls: count })) ?? null,
  };
}

async function checkBinding({ binding, call }: BindingCall) {
  let state: (typeof BINDING_STATES)[number] = "ok";
  try {
    await withinLimit(call());
  } catch (error) {
    log("error", "health.binding_failed", { binding, cause: traceOf(error) });
    state = error instanceof Error && error.name === "TimeoutError" ? "timeout" : "unavailable";
  }
  return { binding, state };
}

function withinLimit<T>(call: Promise<T>): Promise<T> {
  return raceAbort(AbortSignal.timeout(HEALTH_CHECK_MS), call);
}

function readOrNull<T>(read: Promise<T>): Promise<T | null> {
  return withinLimit(read).catch(nullIfUnavailable);
}

/** Makes null of what can't be read: the check of its binding says why. */
function nullIfUnavailable(): null {
  return null;
}

/** `full` has reached the soft limit, `filling` is close to it. */
function stateOf({ used, soft_limit }: Fill): (typeof FILL_STATES)[number] {
  if (used >= soft_limit) return "full";
  const { databaseWarningShare, databaseFullShare } = CAPACITY;
  return used >= (soft_limit * databaseWarningShare) / databaseFullShare ? "filling" : "ok";
}
