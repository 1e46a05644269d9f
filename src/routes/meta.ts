import { z } from "@hono/zod-openapi";
import { AppError } from "../errors.ts";
import { authenticate } from "../http/authenticate.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input, jsonResponse } from "../http/endpoint.ts";
import { requireCostQuota } from "../http/metering.ts";
import { queryBool } from "../http/query-params.ts";
import { ignoreUntilAwaited } from "../ignored-errors.ts";
import { inspectDeployment, withinLimit } from "../lifecycle/deployment-health.ts";
import { observeBindings } from "../lifecycle/observe-bindings.ts";
import { probeDatabase } from "../store/d1/accounts.ts";
import { isObservedVectorId } from "../store/observe-stores.ts";
import { VERSION } from "./openapi-info.ts";
import { deploymentRecord, toDeploymentRecord } from "./records/health-record.ts";
import { observationRecord, toObservationRecord } from "./records/observation-record.ts";

/** Routes about the service itself. They need no API key unless they say so. */
export const metaRoutes = createRouter("Service");

/** Images of one request: each takes two operations of IMAGES. */
const MAX_IMAGES = 3;

/** Videos of other codecs of one request: each takes an operation of FRAMES. */
const MAX_VIDEOS = 4;

const base64 = () =>
  z
    .base64()
    .openapi({ format: "byte" })
    .transform((text) => new Uint8Array(Buffer.from(text, "base64")));

const healthQuery = z.object({
  deep: queryBool(false).describe(
    "Checks each binding and reports how full the deployment is. Needs an API key with the scope " +
      "`operator`. The status is 503 if the service can't serve requests.",
  ),
});

addEndpoint(
  metaRoutes,
  {
    method: "get",
    path: "/health",
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
    query: healthQuery,
    response: z
      .object({
        service: z.literal("sightline").describe("Name of the service."),
        ok: z.boolean().describe("Whether it can answer requests.").openapi({ example: true }),
        version: z.string().describe("Version of the API.").openapi({ example: VERSION }),
        deployment: deploymentRecord.optional().describe("Only with `deep`."),
      })
      .openapi("Health", { description: "State of the service." }),
  },
  getHealth,
);

async function getHealth(c: Context, { query }: Input<z.ZodObject, typeof healthQuery>) {
  if (query.deep) return getDeepHealth(c);
  await probeDatabase(c.env.DB);
  return { service: "sightline" as const, ok: true, version: VERSION };
}

async function getDeepHealth(c: Context): Promise<Response> {
  await withinLimit(authenticate(c, "operator")).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    const message = "The database doesn't answer, so that the API key can't be checked.";
    throw new AppError("upstream_unavailable", message, { cause: error });
  });
  const now = Date.now();
  const health = await inspectDeployment(c.env, now);
  const { ok } = health;
  const deployment = toDeploymentRecord(health, now);
  const record = { service: "sightline", ok, version: VERSION, deployment };
  if (ok) return jsonResponse(record, 200);
  return jsonResponse({ detail: "The database doesn't answer.", ...record }, 503);
}

const observationRequest = z.object({
  video: base64().optional().describe("An MP4 with H.264, at least 6 seconds long."),
  videos: z
    .array(base64())
    .max(MAX_VIDEOS)
    .default([])
    .describe("MP4s with other codecs, at least 2 seconds long."),
  images: z
    .array(base64())
    .max(MAX_IMAGES)
    .default([])
    .describe("Images, of which the first is a JPEG."),
  vector: z
    .string()
    .refine(isObservedVectorId)
    .optional()
    .describe("`waiting` of an earlier response. Nothing but this vector is observed then.")
    .openapi({ example: "observed_1732525200000_0f3a9c12" }),
});

addEndpoint(
  metaRoutes,
  {
    method: "post",
    path: "/health/bindings",
    operationId: "observeBindings",
    summary: "Observe what the bindings answer",
    description:
      "Calls bindings of the platform where their behaviour isn't documented, and returns what " +
      "they answered. The smoke test of a deployment uses it. It costs model calls.",
    examples: { none: { summary: "Without a video or image", value: {} } },
    scope: "operator",
    body: observationRequest,
    bodyOptional: true,
    response: observationRecord,
  },
  postObservation,
);

/** Goes on after its client has gone, to delete a vector that it finds. */
async function postObservation(
  c: Context,
  { body }: Input<z.ZodObject, z.ZodObject, typeof observationRequest>,
) {
  await requireCostQuota(c);
  const observing = observeBindings(c.env, body);
  c.executionCtx.waitUntil(observing.catch(ignoreUntilAwaited));
  return toObservationRecord(await observing);
}
