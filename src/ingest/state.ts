import { INGEST } from "../config.ts";
import type { Failure } from "../errors.ts";
import { type AssetState, type AssetType, INGEST_STEPS, type Step } from "../types.ts";

/*
 * The life of one asset as a pure state machine: the object stores the state, these functions say
 * what may follow. A transition that doesn't hold in the present state gives undefined.
 */

/**
 * A unit of work that one message carries. `attempts` counts claims, `asks` messages sent; of an `idle` one
 * none yet, so that an asset of many parts leaves room in the queue for others.
 */
interface Part {
  status: "idle" | "waiting" | "running" | "done";
  attempts: number;
  asks: number;
  /** Epoch ms at which, if nothing was heard, the work is asked for again. */
  dueAt: number;
  /** Why its last holder gave it back. */
  failure?: Failure;
}

export type FanOut = Partial<Record<Step, number>>;

export interface Running {
  phase: "running";
  assetType: AssetType;
  step: Step;
  parts: Part[];
  /** How many parts a later step has, where that isn't one; one of none is passed over. */
  fanOut: FanOut;
  /** False until the first claim: the asset is still queued. */
  begun: boolean;
}

export type IngestState = Running | { phase: "ready" } | { phase: "failed"; error: Failure };

export interface PartRef {
  step: Step;
  part: number;
}

export const STEPS: Record<AssetType, readonly Step[]> = {
  video: INGEST_STEPS,
  image: ["fetch", "segment", "describe", "embed", "finish"],
};

/** Each step's share of the work, by what it costs on average. */
const WEIGHT: Record<Step, number> = {
  fetch: 5,
  probe: 5,
  look: 8,
  segment: 5,
  listen: 20,
  transcribe: 5,
  describe: 40,
  watch: 2,
  embed: 15,
  finish: 5,
};

const SHOWN_AS: Record<Step, AssetState> = {
  fetch: "fetching",
  probe: "probing",
  look: "segmenting",
  segment: "segmenting",
  listen: "transcribing",
  transcribe: "transcribing",
  describe: "describing",
  watch: "describing",
  embed: "embedding",
  finish: "embedding",
};

export function begin(assetType: AssetType, now: number): Running {
  const step = STEPS[assetType][0]!;
  return { phase: "running", assetType, step, parts: waiting(1, now), fanOut: {}, begun: false };
}

/** A consumer takes a part. Holds while it waits, or when its last holder's lease has run out. */
export function claim(state: IngestState, { step, part }: PartRef, now: number) {
  if (state.phase !== "running" || state.step !== step) return undefined;
  const held = state.parts[part];
  if (held?.status !== "waiting" && held?.status !== "running") return undefined;
  if (held.status === "running" && held.dueAt > now) return undefined;
  const dueAt = now + INGEST.leaseMs;
  const taken: Part = { ...held, status: "running", attempts: held.attempts + 1, dueAt };
  return { ...withPart(state, part, taken), begun: true };
}

/** A part's holder is still at it. */
export function renew(state: IngestState, { step, part }: PartRef, now: number) {
  if (state.phase !== "running" || state.step !== step) return undefined;
  const held = state.parts[part];
  if (held?.status !== "running") return undefined;
  return withPart(state, part, { ...held, dueAt: now + INGEST.leaseMs });
}

/**
 * A part is done; `fanOut` is how many parts later steps have, where this one found out.
 * Whoever finishes first counts, lease or not: the outputs are the same.
 */
export function complete(
  state: IngestState,
  { step, part }: PartRef,
  fanOut: FanOut | undefined,
  now: number,
): IngestState | undefined {
  if (state.phase !== "running" || state.step !== step) return undefined;
  const held = state.parts[part];
  if (!held || held.status === "done") return undefined;
  const done = withPart(state, part, { ...held, status: "done" });
  const idle = done.parts.findIndex(({ status }) => status === "idle");
  const next: Running = {
    ...(idle === -1 ? done : withPart(done, idle, asked(now))),
    fanOut: { ...state.fanOut, ...fanOut },
  };
  return next.parts.every(({ status }) => status === "done") ? advance(next, now) : next;
}

/** A part's holder gives it back because of `failure`, to be asked for again at `dueAt`. */
export function release(
  state: IngestState,
  { step, part }: PartRef,
  failure: Failure,
  dueAt: number,
) {
  if (state.phase !== "running" || state.step !== step) return undefined;
  const held = state.parts[part];
  if (held?.status !== "running") return undefined;
  return withPart(state, part, { ...held, status: "waiting", failure, dueAt });
}

/** A part was tried often enough: the asset fails, for the part's last reason where there is one. */
export function giveUp(state: IngestState, { step, part }: PartRef): IngestState | undefined {
  if (state.phase !== "running" || state.step !== step) return undefined;
  const held = state.parts[part];
  if (!held || held.status === "done") return undefined;
  const message = `The step "${step}" was begun ${held.attempts} times and never ended.`;
  return { phase: "failed", error: held.failure ?? { code: "step_failed", message } };
}

/** Nothing more can be done for the asset. */
export function fail(state: IngestState, step: Step, error: Failure): IngestState | undefined {
  if (state.phase !== "running" || state.step !== step) return undefined;
  return { phase: "failed", error };
}

/**
 * The parts nobody was heard of in time, to be asked for again, each time later; after
 * `INGEST.maxAttempts` claims the asset fails instead.
 */
export function overdue(
  state: IngestState,
  now: number,
): { state: IngestState; ask: PartRef[] } | undefined {
  if (state.phase !== "running") return undefined;
  const late = state.parts.flatMap((part, index) =>
    isUnderWay(part) && part.dueAt <= now ? [{ part, index }] : [],
  );
  if (late.length === 0) return undefined;
  const hopeless = late.find(({ part }) => part.attempts >= INGEST.maxAttempts);
  if (hopeless) {
    return { state: giveUp(state, { step: state.step, part: hopeless.index })!, ask: [] };
  }
  let next = state;
  for (const { part, index } of late) {
    next = withPart(next, index, {
      ...part,
      status: "waiting",
      asks: part.asks + 1,
      dueAt: now + askAgainAfter(part.asks),
    });
  }
  return { state: next, ask: late.map(({ index }) => ({ step: state.step, part: index })) };
}

/** The parts that `after` newly asks for: the first ones where a step begins, or one in place of one done. */
export function newlyAsked(before: IngestState | undefined, after: IngestState): PartRef[] {
  if (after.phase !== "running") return [];
  const known = before?.phase === "running" && before.step === after.step ? before.parts : [];
  return after.parts.flatMap(({ status }, part) => {
    const isNew = (known[part]?.status ?? "idle") === "idle";
    return status === "waiting" && isNew ? [{ step: after.step, part }] : [];
  });
}

/** When `overdue` will next have something to say: epoch ms, or Infinity. */
export function nextDue(state: IngestState): number {
  if (state.phase !== "running") return Infinity;
  return Math.min(...state.parts.map((part) => (isUnderWay(part) ? part.dueAt : Infinity)));
}

/** What the asset's record shows. Progress is the weighted share of parts done: it never goes back. */
export function shown(state: IngestState): { state: AssetState; progress: number | null } {
  if (state.phase === "ready") return { state: "ready", progress: 1 };
  if (state.phase === "failed") return { state: "failed", progress: null };
  const steps = STEPS[state.assetType];
  const total = steps.reduce((sum, step) => sum + WEIGHT[step], 0);
  const before = steps.slice(0, steps.indexOf(state.step)).reduce((sum, s) => sum + WEIGHT[s], 0);
  const done = state.parts.filter(({ status }) => status === "done").length / state.parts.length;
  const progress = (before + WEIGHT[state.step] * done) / total;
  return { state: state.begun ? SHOWN_AS[state.step] : "queued", progress: round(progress) };
}

function advance(state: Running, now: number): IngestState {
  const steps = STEPS[state.assetType];
  const step = steps
    .slice(steps.indexOf(state.step) + 1)
    .find((later) => state.fanOut[later] !== 0);
  if (!step) return { phase: "ready" };
  return { ...state, step, parts: waiting(state.fanOut[step] ?? 1, now) };
}

function waiting(count: number, now: number): Part[] {
  return Array.from({ length: count }, (_, part) =>
    part < INGEST.partsAtOnce ? asked(now) : { status: "idle", attempts: 0, asks: 0, dueAt: 0 },
  );
}

function asked(now: number): Part {
  return { status: "waiting", attempts: 0, asks: 1, dueAt: now + askAgainAfter(0) };
}

function isUnderWay({ status }: Part): boolean {
  return status === "waiting" || status === "running";
}

function withPart(state: Running, index: number, part: Part): Running {
  return { ...state, parts: state.parts.with(index, part) };
}

function askAgainAfter(asks: number): number {
  return INGEST.askAgainMs[Math.min(asks, INGEST.askAgainMs.length - 1)]!;
}

function round(progress: number): number {
  return Math.round(progress * 1000) / 1000;
}
