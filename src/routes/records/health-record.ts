import { z } from "@hono/zod-openapi";
import {
  BINDING_STATES,
  type DeploymentHealth,
  FILL_STATES,
} from "../../lifecycle/deployment-health.ts";
import { RESOURCES } from "../../store/fill.ts";
import { time } from "./fields.ts";
import { isoTimeOrNull } from "./index-record.ts";

const seconds = (description: string) =>
  z.number().nullable().describe(description).openapi({ example: 0.012 });
const day = (description: string) =>
  z.iso.date().nullable().describe(description).openapi({ example: null });
const count = (description: string, example: number) =>
  z.int().describe(description).openapi({ example });

/** State of a deployment: `GET /health?deep=true`. */
export const deploymentRecord = z
  .object({
    bindings: z
      .array(
        z.object({
          binding: z.string().describe("Name of the binding.").openapi({ example: "DB" }),
          state: z
            .enum(BINDING_STATES)
            .describe("`not_checked`: a call costs money. `npm run smoke` makes one."),
          response_seconds: seconds("Duration of the call; null if none was made."),
          backlog: z
            .object({
              messages: count("Messages that wait.", 3),
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
    accepts_ingests: z
      .boolean()
      .nullable()
      .describe("False while D1 is almost full.")
      .openapi({ example: true }),
    last_swept_at: time(
      "When the cron trigger last ran, due once a minute; null: never.",
    ).nullable(),
    fill: z
      .array(
        z.object({
          resource: z
            .enum(RESOURCES)
            .describe("`database` is D1, `index_database` the fullest database of an index."),
          vector_pair: z
            .int()
            .nullable()
            .describe("Number of the Vectorize pair; null for D1 and objects.")
            .openapi({ example: null }),
          state: z.enum(FILL_STATES).describe("`full`: the soft limit is reached."),
          used: count("Bytes, vectors or shards.", 12_300_000),
          soft_limit: count("Amount at which nothing new is added.", 9_000_000_000),
          soft_limit_on: day("Day on which the soft limit is reached, if it grows as before."),
          limit: count("Limit of the platform.", 10_000_000_000),
          limit_on: day("Day on which the limit is reached, if it grows as before."),
        }),
      )
      .nullable()
      .describe("How full the stores are."),
    model_limits: z
      .array(
        z.object({
          model: z.string().describe("Name of the model.").openapi({ example: "@cf/baai/bge-m3" }),
          code: z
            .string()
            .describe("Code of Workers AI, or `refused` by the service itself.")
            .openapi({ example: "3036" }),
          calls: count("Number of such calls.", 2),
        }),
      )
      .nullable()
      .describe("Calls of the last hour that met a limit."),
    text_model: z
      .object({
        model: z.string().describe("Name of the model.").openapi({ example: "@cf/baai/bge-m3" }),
        equal_scripts: z
          .array(z.string())
          .describe("Scripts in which different texts have equal vectors: the model knows none.")
          .openapi({ example: ["Thai"] }),
        checked_at: time("When that was checked, due once a day."),
      })
      .nullable()
      .describe("What a check of the text model found; null before the first."),
  })
  .describe("What can't be read, because a binding doesn't answer, is null.");

export function toDeploymentRecord(
  { bindings, work, acceptsIngests, sweptAt, fills, modelLimits, textModel }: DeploymentHealth,
  now: number,
): z.input<typeof deploymentRecord> {
  const ageOf = (at: number | null) => (at === null ? null : Math.max(0, now - at) / 1000);
  return {
    bindings: bindings.map(({ binding, state, responseMs, backlog }) => ({
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
    accepts_ingests: acceptsIngests,
    last_swept_at: isoTimeOrNull(sweptAt),
    fill:
      fills &&
      fills.map((fill) => ({
        resource: fill.resource,
        vector_pair: fill.vectorPair || null,
        state: fill.state,
        used: fill.used,
        soft_limit: fill.softLimit,
        soft_limit_on: fill.softLimitOn,
        limit: fill.limit,
        limit_on: fill.limitOn,
      })),
    model_limits:
      modelLimits && modelLimits.map(({ model, code, count }) => ({ model, code, calls: count })),
    text_model: textModel && {
      model: textModel.model,
      equal_scripts: textModel.equalScripts,
      checked_at: isoTimeOrNull(textModel.checkedAt)!,
    },
  };
}
