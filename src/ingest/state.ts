import { INGEST } from "../config.ts";
import type { Failure } from "../errors.ts";
import { minOf } from "../lists.ts";
import { type AssetState, type AssetType, INGEST_STEPS, type Step } from "../types.ts";

/*
 * State machine of one asset's ingest, as pure functions. The `MediaIndex` object stores the state.
 * A transition that the present state doesn't allow returns undefined.
 */

/**
 * The work of one message. An `idle` part has no message yet: an asset dispatches
 * `INGEST.partConcurrency` parts at a time and leaves room in the queue for others.
 */
interface Part {
  status: "idle" | "dispatched" | "leased" | "done";
  attempts: number;
  worker?: string | undefined;
  /** Messages sent since the part was last deferred. */
  dispatches: number;
  /** Epoch ms at which the lease expires or the message counts as lost: then it is sent again. */
  dueAt: number;
  /** Claims whose lease expired: the worker was cut off. 0 if absent. */
  cutOffs?: number;
  failure?: Failure;
}

/** Numbers of parts of later steps. */
export type FanOut = Partial<Record<Step, number>>;

export interface Running {
  phase: "running";
  assetType: AssetType;
  step: Step;
  parts: Part[];
  /** Part counts of later steps: 1 if absent. A step of 0 parts is skipped. */
  fanOut: FanOut;
  /** False until the first claim: until then the asset is shown as queued. */
  begun: boolean;
}

export type IngestState = Running | { phase: "ready" } | { phase: "failed"; error: Failure };

export interface PartRef {
  step: Step;
  part: number;
}

/**
 * `refused`: the state doesn't allow the transition, because the part is done, is leased by another
 * worker, or its step is no longer current. `gone`: the asset was deleted.
 */
export type TransitionOutcome = "ok" | "refused" | "gone";

export const STEPS_BY_ASSET_TYPE: Record<AssetType, readonly Step[]> = {
  video: INGEST_STEPS,
  image: ["fetch", "segment", "describe", "embed", "finish"],
};

/** What is shown of each step: its state, and its share of the progress by its average cost. */
const SHOWN: Record<Step, readonly [state: AssetState, weight: number]> = {
  fetch: ["fetching", 5],
  plan_conversion: ["probing", 1],
  convert: ["probing", 30],
  merge_parts: ["probing", 2],
  probe: ["probing", 5],
  detect_shots: ["segmenting", 8],
  segment: ["segmenting", 5],
  recognize_speech: ["transcribing", 20],
  align_transcript: ["transcribing", 5],
  describe: ["describing", 40],
  index_frames: ["describing", 2],
  embed: ["embedding", 15],
  finish: ["embedding", 5],
};

export function begin(assetType: AssetType, now: number): Running {
  const step = STEPS_BY_ASSET_TYPE[assetType][0]!;
  return { phase: "running", assetType, step, parts: newParts(1, now), fanOut: {}, begun: false };
}

/**
 * Leases a part to a worker if the part is dispatched, its lease has expired, or the worker has it:
 * it then asks again, because the answer was lost.
 */
export function claim(
  state: IngestState,
  ref: PartRef,
  now: number,
  worker?: string,
): Running | undefined {
  const current = currentPart(state, ref);
  if (!current || !isInFlight(current.part)) return undefined;
  const { status, attempts, dueAt } = current.part;
  const lease = { status: "leased", dueAt: now + INGEST.leaseMs, worker } as const;
  if (status === "leased" && dueAt > now) {
    return worker !== undefined && worker === current.part.worker
      ? current.change(lease)
      : undefined;
  }
  const cutOffs = countCutOffs(current.part);
  return { ...current.change({ ...lease, attempts: attempts + 1, cutOffs }), begun: true };
}

export function renew(state: IngestState, ref: PartRef, now: number): Running | undefined {
  const current = currentPart(state, ref);
  if (current?.part.status !== "leased") return undefined;
  return current.change({ dueAt: now + INGEST.leaseMs });
}

/**
 * Records that a part is done, and dispatches an idle part or begins the next step. The first
 * worker to finish counts, with a valid lease or not, because all write the same output. `fanOut`
 * is given by the steps that find out the part counts of later ones.
 */
export function complete(
  state: IngestState,
  ref: PartRef,
  fanOut: FanOut | undefined,
  now: number,
): IngestState | undefined {
  const current = currentPart(state, ref);
  if (!current || current.part.status === "done") return undefined;
  const done = current.change({ status: "done" });
  const idle = done.parts.findIndex(({ status }) => status === "idle");
  const next: Running = {
    ...(idle === -1 ? done : withPart(done, idle, newlyDispatchedPart(now))),
    fanOut: { ...done.fanOut, ...fanOut },
  };
  return next.parts.every(({ status }) => status === "done") ? advance(next, now) : next;
}

/**
 * Releases the lease of a part because of `failure`. `dueAt` is when its message counts as lost.
 * Null defers the part: its claim isn't counted, and it has no message until `dueAt`.
 */
export function release(
  state: IngestState,
  ref: PartRef,
  failure: Failure | null,
  dueAt: number,
): Running | undefined {
  const current = currentPart(state, ref);
  if (current?.part.status !== "leased") return undefined;
  const change = failure ? { failure } : { attempts: current.part.attempts - 1, dispatches: 0 };
  return current.change({ ...change, status: "dispatched", dueAt });
}

/**
 * Fails the asset because a part has spent its attempts: with `too_complex` if its workers were cut
 * off `INGEST.maxCutOffs` times, else with the part's last failure if any.
 */
export function failExhausted(state: IngestState, ref: PartRef): IngestState | undefined {
  const current = currentPart(state, ref);
  if (!current || current.part.status === "done") return undefined;
  if (countCutOffs(current.part) >= INGEST.maxCutOffs) {
    const message =
      `The step "${ref.step}" was cut off ${INGEST.maxCutOffs} times: the file takes more ` +
      "processor time or memory than there is. Save it again, smaller or in another format.";
    return { phase: "failed", error: { code: "too_complex", message } };
  }
  const { attempts, failure } = current.part;
  const message = `The step "${ref.step}" was begun ${attempts} times and never ended.`;
  return { phase: "failed", error: failure ?? { code: "attempts_exhausted", message } };
}

/** Counts the claims that were cut off, for a part whose lease, if any, has expired. */
function countCutOffs({ status, cutOffs = 0 }: Part): number {
  return status === "leased" ? cutOffs + 1 : cutOffs;
}

/** Returns a part of the present step, and how to change it. Undefined for any other step. */
function currentPart(state: IngestState, { step, part: index }: PartRef) {
  if (state.phase !== "running" || state.step !== step) return undefined;
  const part = state.parts[index];
  if (!part) return undefined;
  return {
    part,
    change: (change: Partial<Part>) => withPart(state, index, { ...part, ...change }),
  };
}

/** Fails the asset because of an error that no retry can change. */
export function fail(state: IngestState, step: Step, error: Failure): IngestState | undefined {
  if (state.phase !== "running" || state.step !== step) return undefined;
  return { phase: "failed", error };
}

/**
 * Dispatches deferred parts, and again those whose lease expired or whose message was lost, each
 * time after a longer wait. `lostCount` is the number of the latter. The asset fails if a part has
 * had `INGEST.maxAttempts` claims, or `INGEST.maxCutOffs` that were cut off. Undefined if none is
 * overdue.
 */
export function redispatchOverdue(
  state: IngestState,
  now: number,
): { state: IngestState; dispatch: PartRef[]; lostCount: number } | undefined {
  if (state.phase !== "running") return undefined;
  const overdue = state.parts.flatMap((part, index) =>
    isInFlight(part) && part.dueAt <= now ? [{ part, index }] : [],
  );
  if (overdue.length === 0) return undefined;
  const lostCount = overdue.filter(({ part }) => part.dispatches > 0).length;
  const exhausted = overdue.find(
    ({ part }) => part.attempts >= INGEST.maxAttempts || countCutOffs(part) >= INGEST.maxCutOffs,
  );
  if (exhausted) {
    return {
      state: failExhausted(state, { step: state.step, part: exhausted.index })!,
      dispatch: [],
      lostCount,
    };
  }
  let next = state;
  for (const { part, index } of overdue) {
    next = withPart(next, index, {
      ...part,
      cutOffs: countCutOffs(part),
      status: "dispatched",
      dispatches: part.dispatches + 1,
      dueAt: now + redispatchDelayMs(part.dispatches),
    });
  }
  const dispatch = overdue.map(({ index }) => ({ step: state.step, part: index }));
  return { state: next, dispatch, lostCount };
}

/**
 * Lists the parts that a transition dispatches: the first ones of a step, or one after one is done.
 */
export function newlyDispatched(before: IngestState | undefined, after: IngestState): PartRef[] {
  if (after.phase !== "running") return [];
  const previousParts =
    before?.phase === "running" && before.step === after.step ? before.parts : [];
  return after.parts.flatMap(({ status }, part) => {
    const isNew = (previousParts[part]?.status ?? "idle") === "idle";
    return status === "dispatched" && isNew ? [{ step: after.step, part }] : [];
  });
}

/** Returns when a part will be overdue: epoch ms, or Infinity. */
export function nextDue(state: IngestState): number {
  if (state.phase !== "running") return Infinity;
  return minOf(state.parts.map((part) => (isInFlight(part) ? part.dueAt : Infinity)));
}

/**
 * Returns what the asset's record says. Progress is the weighted share of done parts, without the
 * steps that are skipped, and never decreases. Null in a failed asset, whose record keeps its
 * progress.
 */
export function publicState(state: IngestState): { state: AssetState; progress: number | null } {
  if (state.phase === "ready") return { state: "ready", progress: 1 };
  if (state.phase === "failed") return { state: "failed", progress: null };
  const steps = STEPS_BY_ASSET_TYPE[state.assetType].filter((step) => state.fanOut[step] !== 0);
  const weigh = (some: Step[]) => some.reduce((sum, step) => sum + SHOWN[step][1], 0);
  const [publicState, weight] = SHOWN[state.step];
  const done = state.parts.filter(({ status }) => status === "done").length / state.parts.length;
  const before = weigh(steps.slice(0, steps.indexOf(state.step)));
  const progress = Math.round((1000 * (before + weight * done)) / weigh(steps)) / 1000;
  return { state: state.begun ? publicState : "queued", progress };
}

function advance(state: Running, now: number): IngestState {
  const steps = STEPS_BY_ASSET_TYPE[state.assetType];
  const step = steps
    .slice(steps.indexOf(state.step) + 1)
    .find((later) => state.fanOut[later] !== 0);
  if (!step) return { phase: "ready" };
  return { ...state, step, parts: newParts(state.fanOut[step] ?? 1, now) };
}

function newParts(count: number, now: number): Part[] {
  return Array.from({ length: count }, (_, part) =>
    part < INGEST.partConcurrency
      ? newlyDispatchedPart(now)
      : { status: "idle", attempts: 0, dispatches: 0, dueAt: 0 },
  );
}

function newlyDispatchedPart(now: number): Part {
  return { status: "dispatched", attempts: 0, dispatches: 1, dueAt: now + redispatchDelayMs(0) };
}

function isInFlight({ status }: Part): boolean {
  return status === "dispatched" || status === "leased";
}

function withPart(state: Running, index: number, part: Part): Running {
  return { ...state, parts: state.parts.with(index, part) };
}

function redispatchDelayMs(dispatches: number): number {
  return INGEST.redispatchMs[Math.min(dispatches, INGEST.redispatchMs.length - 1)]!;
}
