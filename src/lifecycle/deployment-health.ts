import { CONNECTIONS, mapConcurrent, raceAbort } from "../concurrency.ts";
import { CAPACITY, HEALTH_CHECK_MS } from "../config.ts";
import { traceOf } from "../errors.ts";
import { log } from "../log.ts";
import {
  getTextModelCheck,
  listMetLimits,
  type MetLimit,
  type TextModelCheck,
} from "../models/call-limiter.ts";
import {
  type Backlog,
  type BindingCall,
  listBindingCalls,
  listQueueCalls,
} from "../store/binding-checks.ts";
import { getDatabaseFill, getOldestWork, type OldestWork } from "../store/d1/deployment.ts";
import { type Fill, type FillDay, listFillHistory, listFills } from "../store/fill.ts";

export const BINDING_STATES = ["ok", "unavailable", "timeout", "not_checked"] as const;

/** Outcome of a check. */
interface BindingCheck {
  binding: string;
  state: (typeof BINDING_STATES)[number];
  /** Duration of the call; null if none was made. */
  responseMs: number | null;
  /** Null unless it is a queue that answered. */
  backlog: Backlog | null;
}

export const FILL_STATES = ["ok", "filling", "full"] as const;

/** Adds its state to a fill: `full` has reached the soft limit, `filling` is close to it. */
interface FillForecast extends Fill {
  state: (typeof FILL_STATES)[number];
  softLimitOn: string | null;
  limitOn: string | null;
}

/** State of a deployment. What can't be read, because a binding doesn't answer, is null. */
export interface DeploymentHealth {
  /** Whether it can serve requests: every request needs D1. */
  ok: boolean;
  bindings: BindingCheck[];
  work: OldestWork | null;
  acceptsIngests: boolean | null;
  /** When the cron trigger last ran; null before its first run, too. */
  sweptAt: number | null;
  fills: FillForecast[] | null;
  modelLimits: MetLimit[] | null;
  /** Null before the first check, too. */
  textModel: TextModelCheck | null;
}

/** Bindings that bill each call, and so aren't called. */
const BILLED = ["AI", "FRAMES", "IMAGES"];

/** Calls every binding once, each for at most `HEALTH_CHECK_MS`, and reads how full they are. */
export async function inspectDeployment(env: Env, now: number): Promise<DeploymentHealth> {
  const limitCall = { binding: "MODEL_LIMITER", call: () => listMetLimits(env) };
  const calls = [...listBindingCalls(env), ...listQueueCalls(env), limitCall];
  const [bindings, work, database, fills, modelLimits, textModel] = await Promise.all([
    mapConcurrent(calls, CONNECTIONS, checkBinding),
    readOrNull(getOldestWork(env.DB)),
    readOrNull(getDatabaseFill(env)),
    readOrNull(forecastFills(env, now)),
    readOrNull(listMetLimits(env)),
    readOrNull(getTextModelCheck(env)),
  ]);
  const notChecked = BILLED.map((binding): BindingCheck => {
    return { binding, state: "not_checked", responseMs: null, backlog: null };
  });
  return {
    ok: bindings.every(({ binding, state }) => binding !== "DB" || state === "ok"),
    bindings: [...bindings, ...notChecked],
    work,
    acceptsIngests: database?.acceptsIngests ?? null,
    sweptAt: database?.sweptAt ?? null,
    fills,
    modelLimits,
    textModel,
  };
}

async function checkBinding({ binding, call }: BindingCall): Promise<BindingCheck> {
  const startedAt = Date.now();
  const outcome = await withinLimit(call()).then(
    (value): Pick<BindingCheck, "state" | "backlog"> => ({
      state: "ok",
      backlog: isBacklog(value) ? value : null,
    }),
    (error: unknown) => {
      log("error", "health.binding_failed", { binding, cause: traceOf(error) });
      return { state: isTimeout(error) ? "timeout" : "unavailable", backlog: null } as const;
    },
  );
  return { binding, ...outcome, responseMs: Date.now() - startedAt };
}

/** Awaits a call for at most `HEALTH_CHECK_MS`. Throws a `TimeoutError` then. */
export function withinLimit<T>(call: Promise<T>): Promise<T> {
  return raceAbort(AbortSignal.timeout(HEALTH_CHECK_MS), call);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

function isBacklog(value: unknown): value is Backlog {
  return typeof value === "object" && value !== null && "oldestAt" in value;
}

async function readOrNull<T>(read: Promise<T>): Promise<T | null> {
  return withinLimit(read).catch(nullIfUnavailable);
}

/** Makes null of what can't be read: the check of its binding says why. */
function nullIfUnavailable(): null {
  return null;
}

async function forecastFills(env: Env, now: number): Promise<FillForecast[]> {
  const [fills, history] = await Promise.all([listFills(env), listFillHistory(env.DB)]);
  const today = new Date(now).toISOString().slice(0, 10);
  return fills.map((fill) => {
    const { resource, vectorPair, used, softLimit, limit } = fill;
    const recorded = history.filter((day) => {
      return day.resource === resource && day.vectorPair === vectorPair && day.date < today;
    });
    const days: FillDay[] = [...recorded, { date: today, used }];
    const softLimitOn = forecastDate(days, softLimit);
    const limitOn = forecastDate(days, limit);
    return Object.assign(fill, { state: stateOf(fill), softLimitOn, limitOn });
  });
}

function stateOf({ used, softLimit }: Fill): FillForecast["state"] {
  if (used >= softLimit) return "full";
  const { databaseWarningShare, databaseFullShare } = CAPACITY;
  return used >= (softLimit * databaseWarningShare) / databaseFullShare ? "filling" : "ok";
}

const DAY_MS = 24 * 3600 * 1000;
/** Dates further away than this say nothing. */
const MAX_DAYS = 36_500;

/**
 * Returns the day (YYYY-MM-DD, UTC) on which a resource reaches `limit` if it goes on growing as it
 * has over `days`, oldest first: a line is fitted by least squares and starts at the last day. Null
 * if there are fewer than two days, if it doesn't grow, or if that takes over a century.
 */
export function forecastDate(days: readonly FillDay[], limit: number): string | null {
  const last = days.at(-1);
  if (!last || days.length < 2) return null;
  if (last.used >= limit) return last.date;
  const points = days.map(({ date, used }) => ({ x: Date.parse(date) / DAY_MS, y: used }));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const covariance = mean(points.map(({ x, y }) => (x - meanX) * (y - meanY)));
  const perDay = covariance / mean(points.map(({ x }) => (x - meanX) ** 2));
  const remainingDays = (limit - last.used) / perDay;
  if (!(perDay > 0) || remainingDays > MAX_DAYS) return null;
  const reached = Date.parse(last.date) + Math.ceil(remainingDays) * DAY_MS;
  return new Date(reached).toISOString().slice(0, 10);
}
