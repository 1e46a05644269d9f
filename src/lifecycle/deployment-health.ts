import { CONNECTIONS, mapConcurrent, raceAbort } from "../concurrency.ts";
import { CAPACITY, HEALTH_CHECK_MS } from "../config.ts";
import { traceOf } from "../errors.ts";
import { log } from "../log.ts";
import { modelLimiter } from "../models/call-limiter.ts";
import {
  type Backlog,
  type BindingCall,
  type Fill,
  getDatabaseFill,
  getOldestWork,
  listBindingCalls,
  listFills,
} from "../store/deployment.ts";

export const BINDING_STATES = ["ok", "unavailable", "timeout", "not_checked"] as const;

export const FILL_STATES = ["ok", "filling", "full"] as const;

/** State of a deployment. What can't be read, because a binding doesn't answer, is null. */
export type DeploymentHealth = Awaited<ReturnType<typeof inspectDeployment>>;

/** Bindings that bill each call, and so aren't called. */
const BILLED = ["AI", "FRAMES", "IMAGES"];

/** Calls every binding once, each for at most `HEALTH_CHECK_MS`, and reads how full they are. */
export async function inspectDeployment(env: Env) {
  const limiter = modelLimiter(env);
  const limitCall = { binding: "MODEL_LIMITER", call: () => limiter.listLimits() };
  const [bindings, work, database, fills, modelLimits] = await Promise.all([
    mapConcurrent([...listBindingCalls(env), limitCall], CONNECTIONS, checkBinding),
    readOrNull(getOldestWork(env.DB)),
    readOrNull(getDatabaseFill(env)),
    readOrNull(inspectFills(env)),
    readOrNull(limiter.listLimits()),
  ]);
  const notChecked = BILLED.map((binding) => {
    return { binding, state: "not_checked" as const, responseMs: null, backlog: null };
  });
  return {
    // every request needs D1
    ok: bindings.every(({ binding, state }) => binding !== "DB" || state === "ok"),
    bindings: [...bindings, ...notChecked],
    work,
    acceptsIngests: database?.acceptsIngests ?? null,
    sweptAt: database?.sweptAt ?? null,
    fills,
    modelLimits,
  };
}

async function checkBinding({ binding, call }: BindingCall) {
  const startedAt = Date.now();
  let state = "ok" as (typeof BINDING_STATES)[number];
  const value = await withinLimit(call()).catch((error: unknown) => {
    log("error", "health.binding_failed", { binding, cause: traceOf(error) });
    state = error instanceof Error && error.name === "TimeoutError" ? "timeout" : "unavailable";
  });
  const backlog = isBacklog(value) ? value : null;
  return { binding, state, responseMs: Date.now() - startedAt, backlog };
}

export function withinLimit<T>(call: Promise<T>): Promise<T> {
  return raceAbort(AbortSignal.timeout(HEALTH_CHECK_MS), call);
}

function isBacklog(value: unknown): value is Backlog {
  return typeof value === "object" && value !== null && "oldestAt" in value;
}

function readOrNull<T>(read: Promise<T>): Promise<T | null> {
  return withinLimit(read).catch(nullIfUnavailable);
}

/** Makes null of what can't be read: the check of its binding says why. */
function nullIfUnavailable(): null {
  return null;
}

/** Lists what is filled, with its state. */
async function inspectFills(env: Env) {
  const fills = await listFills(env);
  return fills.map((fill) => Object.assign(fill, { state: stateOf(fill) }));
}

/** `full` has reached the soft limit, `filling` is close to it. */
function stateOf({ used, softLimit }: Fill): (typeof FILL_STATES)[number] {
  if (used >= softLimit) return "full";
  const { databaseWarningShare, databaseFullShare } = CAPACITY;
  return used >= (softLimit * databaseWarningShare) / databaseFullShare ? "filling" : "ok";
}
