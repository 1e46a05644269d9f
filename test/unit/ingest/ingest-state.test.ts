import { describe, expect, it } from "vitest";
import { INGEST } from "../../../src/config.ts";
import type { Failure } from "../../../src/errors.ts";
import {
  begin,
  claim,
  complete,
  type FanOut,
  fail,
  failExhausted,
  type IngestState,
  newlyDispatched,
  nextDue,
  redispatchOverdue,
  type PartRef,
  release,
  renew,
  type Running,
  publicState,
  STEPS_BY_ASSET_TYPE,
} from "../../../src/ingest/state.ts";

type Redispatch = NonNullable<ReturnType<typeof redispatchOverdue>>;

const NOW = 1_000_000;
const FIRST: PartRef = { step: "fetch", part: 0 };

/** Claims and completes all parts of the current step. */
function finishStep(state: IngestState, fanOut?: FanOut): IngestState {
  if (state.phase !== "running") throw new Error("not running");
  const { step, parts } = state;
  return parts.reduce<IngestState>((before, _, part) => {
    const claimed = claim(before, { step, part }, NOW)!;
    return complete(claimed, { step, part }, fanOut, NOW)!;
  }, state);
}

const THREE_PARTS: FanOut = { recognize_speech: 3, describe: 3, index_frames: 3, embed: 3 };

function at(step: string, fanOut = THREE_PARTS): IngestState {
  let state: IngestState = begin("video", NOW);
  while (state.phase === "running" && state.step !== step) state = finishStep(state, fanOut);
  return state;
}

describe("the ingest state of an asset", () => {
  it("advances through the steps of its asset type to ready", () => {
    for (const type of ["video", "image"] as const) {
      let state: IngestState = begin(type, NOW);
      const steps = [];
      while (state.phase === "running") {
        steps.push(state.step);
        state = finishStep(state);
      }
      expect(steps).toEqual(STEPS_BY_ASSET_TYPE[type]);
      expect(state).toEqual({ phase: "ready" });
    }
  });

  it("has the parts that an earlier step determined, and advances when all are done", () => {
    const described = at("describe");
    expect(newlyDispatched(at("align_transcript"), described)).toEqual([
      { step: "describe", part: 0 },
      { step: "describe", part: 1 },
      { step: "describe", part: 2 },
    ]);
    const twoDone = [0, 1].reduce<IngestState>((state, part) => {
      const ref: PartRef = { step: "describe", part };
      return complete(claim(state, ref, NOW)!, ref, undefined, NOW)!;
    }, described);
    expect(publicState(twoDone).state).toBe("describing");
    expect(finishPart(twoDone, 2)).toMatchObject({ step: "index_frames" });
  });

  it("dispatches a few parts at a time, and another as each is done", () => {
    const partCount = INGEST.partConcurrency + 2;
    let state = at("describe", { describe: partCount });
    const dispatchedParts = newlyDispatched(at("align_transcript"), state).map(({ part }) => part);
    expect(dispatchedParts).toEqual(
      Array.from({ length: INGEST.partConcurrency }, (_, part) => part),
    );
    expect(claim(state, { step: "describe", part: partCount - 1 }, NOW)).toBeUndefined();
    expect(redispatchOverdue(state, NOW + 86_400_000)!.dispatch).toHaveLength(
      INGEST.partConcurrency,
    );
    for (const part of [3, 0, 1]) {
      const before = state;
      state = complete(
        claim(state, { step: "describe", part }, NOW)!,
        { step: "describe", part },
        {},
        NOW,
      )!;
      dispatchedParts.push(...newlyDispatched(before, state).map(({ part: added }) => added));
    }
    expect(dispatchedParts).toHaveLength(partCount);
    expect(new Set(dispatchedParts).size).toBe(partCount);
  });

  it("skips a step without parts", () => {
    const withoutSpeech = at("segment", {});
    expect(publicState(finishStep(withoutSpeech, { recognize_speech: 0, describe: 2 })).state).toBe(
      "transcribing",
    );
    expect(finishStep(withoutSpeech, { recognize_speech: 0 })).toMatchObject({
      step: "align_transcript",
    });
  });

  it("has progress that starts at 0, only grows and ends at 1", () => {
    let state: IngestState = begin("video", NOW);
    let last = publicState(state).progress!;
    expect(last).toBe(0);
    while (state.phase === "running") {
      const { step, parts }: Running = state;
      for (let part = 0; part < parts.length; part++) {
        state = complete(
          claim(state, { step, part }, NOW)!,
          { step, part },
          { recognize_speech: 4, describe: 4, embed: 4 },
          NOW,
        )!;
        expect(publicState(state).progress).toBeGreaterThan(last);
        last = publicState(state).progress!;
      }
    }
    expect(last).toBe(1);
  });
});

function finishPart(state: IngestState, part: number): IngestState {
  const ref: PartRef = { step: "describe", part };
  return complete(claim(state, ref, NOW)!, ref, undefined, NOW)!;
}

const OUTAGE: Failure = { code: "upstream_unavailable", message: "The model is unavailable." };

it("a worker that asks again, because the answer was lost, has the part and no attempt more", () => {
  const claimed = claim(begin("video", NOW), FIRST, NOW, "worker")!;
  const { parts } = claim(claimed, FIRST, NOW + 1, "worker")!;
  expect(parts[0]).toMatchObject({
    status: "leased",
    attempts: 1,
    dueAt: NOW + 1 + INGEST.leaseMs,
  });
});

describe("a transition that the state doesn't allow", () => {
  const fresh = begin("video", NOW);
  const claimed = claim(fresh, FIRST, NOW)!;
  const done = complete(claimed, FIRST, undefined, NOW)!;
  const failed = fail(claimed, "fetch", { code: "download_failed", message: "gone" })!;
  const other: PartRef = { step: "embed", part: 0 };
  const beyond: PartRef = { step: "fetch", part: 7 };

  it.each<[string, IngestState | undefined]>([
    ["claiming a part that is leased", claim(claimed, FIRST, NOW + 1)],
    ["claiming a part of another worker", claim(claim(fresh, FIRST, NOW, "a")!, FIRST, NOW, "b")],
    ["claiming a part that is done", claim(done, FIRST, NOW)],
    ["claiming another step", claim(fresh, other, NOW)],
    ["claiming a part that doesn't exist", claim(fresh, beyond, NOW)],
    ["claiming when ready", claim({ phase: "ready" }, FIRST, NOW)],
    ["claiming when failed", claim(failed, FIRST, NOW)],
    ["completing twice", complete(done, FIRST, undefined, NOW)],
    ["completing another step", complete(claimed, other, undefined, NOW)],
    ["completing a part that doesn't exist", complete(claimed, beyond, undefined, NOW)],
    ["renewing a part that isn't leased", renew(fresh, FIRST, NOW)],
    ["renewing another step", renew(claimed, other, NOW)],
    ["releasing a part that isn't leased", release(fresh, FIRST, OUTAGE, NOW)],
    ["releasing another step", release(claimed, other, OUTAGE, NOW)],
    ["failing by another step", fail(claimed, "embed", { code: "internal", message: "" })],
    ["exhausting a part that is done", failExhausted(done, FIRST)],
    ["exhausting another step", failExhausted(claimed, other)],
    ["failing again", fail(failed, "fetch", { code: "internal", message: "" })],
    ["redispatching when nothing is overdue", redispatchOverdue(claimed, NOW + 1)?.state],
    ["redispatching when ready", redispatchOverdue({ phase: "ready" }, Infinity)?.state],
  ])("%s returns undefined", (_, result) => {
    expect(result).toBeUndefined();
  });
});

describe("a deferred part", () => {
  const defer = (state: IngestState, dueAt: number) =>
    release(claim(state, FIRST, NOW)!, FIRST, null, dueAt)!;

  it("spends no attempt and is dispatched when it is due, however often", () => {
    let state: IngestState = begin("video", NOW);
    let dueAt = NOW;
    for (let i = 0; i < 3 * INGEST.maxAttempts; i++) {
      dueAt += 75_000;
      state = defer(state, dueAt);
      expect(nextDue(state)).toBe(dueAt);
      expect(redispatchOverdue(state, dueAt - 1)).toBeUndefined();
      const overdue: Redispatch = redispatchOverdue(state, dueAt)!;
      expect(overdue).toMatchObject({ dispatch: [FIRST], lostCount: 0 });
      ({ state } = overdue);
    }
    expect(state).toMatchObject({ parts: [{ attempts: 0, dispatches: 1 }] });
  });

  it("counts as lost if its message is lost afterwards", () => {
    const { state } = redispatchOverdue(defer(begin("video", NOW), NOW), NOW)!;
    expect(redispatchOverdue(state, nextDue(state))).toMatchObject({ lostCount: 1 });
  });

  it("keeps the failure of an earlier attempt", () => {
    const failed = release(claim(begin("video", NOW), FIRST, NOW)!, FIRST, OUTAGE, NOW)!;
    expect(defer(failed, NOW)).toMatchObject({ parts: [{ attempts: 1, failure: OUTAGE }] });
  });
});

describe("an overdue part", () => {
  it("can be claimed by another worker once its lease has expired", () => {
    const claimed = claim(begin("video", NOW), FIRST, NOW)!;
    expect(claim(claimed, FIRST, NOW + INGEST.leaseMs)).toBeDefined();
    const renewed = renew(claimed, FIRST, NOW + 1000)!;
    expect(claim(renewed, FIRST, NOW + INGEST.leaseMs)).toBeUndefined();
  });

  it("is completed by the first worker to finish, with an expired lease too", () => {
    const claimed = claim(begin("video", NOW), FIRST, NOW)!;
    const reclaimed = claim(claimed, FIRST, NOW + INGEST.leaseMs)!;
    expect(complete(reclaimed, FIRST, undefined, NOW + INGEST.leaseMs)).toMatchObject({
      step: "plan_conversion",
    });
  });

  it("is dispatched again, each time after a longer wait", () => {
    let state: IngestState = begin("video", NOW);
    const waits = [];
    for (let i = 0; i < 7; i++) {
      const due = nextDue(state);
      const redispatch: Redispatch = redispatchOverdue(state, due)!;
      expect(redispatch.dispatch).toEqual([FIRST]);
      waits.push(nextDue(redispatch.state) - due);
      state = redispatch.state;
    }
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBe(INGEST.redispatchMs.at(-1));
  });

  it("fails the asset after too many claims", () => {
    let state: IngestState = begin("video", NOW);
    let now = NOW;
    for (let i = 0; i < INGEST.maxAttempts; i++) {
      state = release(claim(state, FIRST, now)!, FIRST, OUTAGE, now)!;
    }
    const redispatch: Redispatch = redispatchOverdue(state, now)!;
    expect(redispatch.dispatch).toEqual([]);
    expect(redispatch.state).toEqual({ phase: "failed", error: OUTAGE });
  });

  it.each(["redispatch", "next claim"])(
    "fails the asset as too complex after three workers were cut off, seen by the %s",
    (seenBy) => {
      let state: IngestState = begin("video", NOW);
      let now = NOW;
      for (let i = 1; i < INGEST.maxCutOffs; i++) {
        state = claim(state, FIRST, now)!;
        now += INGEST.leaseMs;
        if (seenBy === "redispatch") state = redispatchOverdue(state, now)!.state;
        expect(state.phase).toBe("running");
      }
      state = claim(state, FIRST, now)!;
      const { state: after, dispatch }: Redispatch = redispatchOverdue(
        state,
        now + INGEST.leaseMs,
      )!;
      expect(dispatch).toEqual([]);
      expect(after).toMatchObject({ phase: "failed", error: { code: "too_complex" } });
    },
  );

  it("whose worker renews its lease or fails is not cut off", () => {
    let state: IngestState = begin("video", NOW);
    for (let i = 0; i < 2 * INGEST.maxCutOffs; i++) {
      state = renew(claim(state, FIRST, NOW)!, FIRST, NOW)!;
      state = redispatchOverdue(release(state, FIRST, OUTAGE, NOW)!, NOW)!.state;
    }
    expect(state.phase).toBe("running");
  });
});

describe("a part whose attempts are exhausted", () => {
  it("fails the asset with the part's last failure", () => {
    const claimed = claim(begin("video", NOW), FIRST, NOW)!;
    expect(failExhausted(claimed, FIRST)).toMatchObject({ error: { code: "attempts_exhausted" } });
    const released = release(claimed, FIRST, OUTAGE, NOW)!;
    expect(failExhausted(released, FIRST)).toEqual({ phase: "failed", error: OUTAGE });
    expect(failExhausted(claim(released, FIRST, NOW)!, FIRST)).toEqual({
      phase: "failed",
      error: OUTAGE,
    });
  });
});

it("nextDue returns the same time after the state was stored as JSON", () => {
  const state = at("describe");
  const part: PartRef = { step: "describe", part: 0 };
  const oneDone = complete(claim(state, part, NOW)!, part, undefined, NOW)!;
  const stored = JSON.parse(JSON.stringify(oneDone)) as IngestState;
  expect(stored).toEqual(oneDone);
  expect(nextDue(stored)).toBe(NOW + INGEST.redispatchMs[0]!);
  expect(nextDue({ phase: "ready" })).toBe(Infinity);
});
