import { AppError } from "../errors.ts";
import { mapRecord } from "../field-names.ts";
import { authenticate } from "../http/authenticate.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, jsonResponse } from "../http/endpoint.ts";
import { flag, int, isoTimeOrNull, number, oneOf, text, time } from "../http/fields.ts";
import * as z from "../http/zod.ts";
import {
  BINDING_STATES,
  type DeploymentHealth,
  FILL_STATES,
  inspectDeployment,
  withinLimit,
} from "../lifecycle/deployment-health.ts";
import { probeDatabase } from "../store/d1/accounts.ts";
import { RESOURCES } from "../store/deployment.ts";
import { VERSION } from "./openapi-info.ts";

const seconds = (description: string) => number(description, 0.012).nullable();

const fill = z.object({
  resource: oneOf(RESOURCES, "`database` is D1, `index_database` the fullest of an index."),
  vector_pair: int("Number of the Vectorize pair; null for D1 and objects.", null).nullable(),
  state: oneOf(FILL_STATES, "`full`: the soft limit is reached."),
  used: int("Bytes, vectors or shards.", 12_300_000),
  soft_limit: int("Amount at which nothing new is added.", 9_000_000_000),
  limit: int("Limit of the platform.", 10_000_000_000),
});

/** State of a deployment: `GET /health?deep=true`. */
const deploymentRecord = z
  .object({
    bindings: z
      .array(
        z.object({
          binding: text("Name of the binding.", "DB"),
          state: oneOf(BINDING_STATES, "`not_checked`: a call costs money, as of `npm run smoke`."),
          response_seconds: seconds("Duration of the call; null if none was made."),
          backlog: z
            .object({
              messages: int("Messages that wait.", 3),
              oldest_seconds: seconds("Age of the oldest message, if the queue says it."),
            })
            .nullable()
            .describe("Backlog of a queue; null for other bindings."),
        }),
      )
      .describe("Each binding and whether it answers."),
    oldest_work: z
      .object({
        queued_asset_seconds: seconds("Time for which a queued asset hasn't changed; null: none."),
        queued_job_seconds: seconds("The same for a queued job."),
      })
      .nullable()
      .describe("How long the oldest work has waited."),
    accepts_ingests: flag("False while D1 is almost full.", true).nullable(),
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

function toDeploymentRecord(
  health: DeploymentHealth,
  now: number,
): z.input<typeof deploymentRecord> {
  const ageOf = (at: number | null) => (at === null ? null : Math.max(0, now - at) / 1000);
  const { work } = health;
  return {
    bindings: health.bindings.map(({ binding, state, responseMs, backlog }) => ({
      binding,
      state,
      response_seconds: responseMs === null ? null : responseMs / 1000,
      backlog: backlog && {
        messages: backlog.messages,
        oldest_seconds: ageOf(backlog.oldestAt),
      },
    })),
    oldest_work: work && {
      queued_asset_seconds: ageOf(work.queuedAssetAt),
      queued_job_seconds: ageOf(work.queuedJobAt),
    },
    accepts_ingests: health.acceptsIngests,
    last_swept_at: isoTimeOrNull(health.sweptAt),
    fill:
      health.fills?.map((one) => mapRecord(fill, one, { vector_pair: one.vectorPair || null })) ??
      null,
    model_limits:
      health.modelLimits?.map(({ model, code, count }) => ({ model, code, calls: count })) ?? null,
  };
}

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
  const now = Date.now();
  const health = await inspectDeployment(c.env);
  const { ok } = health;
  const deployment = toDeploymentRecord(health, now);
  const record = { service: "sightline", ok, version: VERSION, deployment };
  if (ok) return jsonResponse(record, 200);
  return jsonResponse({ detail: "The database doesn't answer.", ...record }, 503);
}
