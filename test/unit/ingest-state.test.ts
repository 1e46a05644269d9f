import { describe, expect, it } from "vitest";
import { INGEST } from "../../src/config.ts";
import type { Failure } from "../../src/errors.ts";
import {
  begin,
  claim,
  complete,
  type FanOut,
  fail,
  giveUp,
  type IngestState,
  newlyAsked,
  nextDue,
  overdue,
  type PartRef,
  release,
  renew,
  type Running,
  shown,
  STEPS,
} from "../../src/ingest/state.ts";

type Late = NonNullable<ReturnType<typeof overdue>>;

const NOW = 1_000_000;
const FIRST: PartRef = { step: "fetch", part: 0 };

/** Does every part of the present step, as one consumer would. */
function finishStep(state: IngestState, fanOut?: FanOut): IngestState {
  if (state.phase !== "running") throw new Error("not running");
  const { step, parts } = state;
  return parts.reduce<IngestState>((before, _, part) => {
    const claimed = claim(before, { step, part }, NOW)!;
    return complete(claimed, { step, part }, fanOut, NOW)!;
  }, state);
}

const THREE: FanOut = { listen: 3, describe: 3, watch: 3, embed: 3 };

function at(step: string, fanOut = THREE): IngestState {
  let state: IngestState = begin("video", NOW);
  while (state.phase === "running" && state.step !== step) state = finishStep(state, fanOut);
  return state;
}

describe("an asset's states", () => {
  it("follow the pipeline of its type to ready", () => {
    for (const type of ["video", "image"] as const) {
      let state: IngestState = begin(type, NOW);
      const seen = [];
      while (state.phase === "running") {
        seen.push(state.step);
        state = finishStep(state);
      }
      expect(seen).toEqual(STEPS[type]);
      expect(state).toEqual({ phase: "ready" });
    }
  });

  it("fan out into the parts that a step found, and join them again", () => {
    const described = at("describe");
    expect(newlyAsked(at("transcribe"), described)).toEqual([
      { step: "describe", part: 0 },
      { step: "describe", part: 1 },
      { step: "describe", part: 2 },
    ]);
    const two = [0, 1].reduce<IngestState>((state, part) => {
      const ref: PartRef = { step: "describe", part };
      return complete(claim(state, ref, NOW)!, ref, undefined, NOW)!;
    }, described);
    expect(shown(two).state).toBe("describing");
    expect(finishOne(two, 2)).toMatchObject({ step: "watch" });
  });

  it("ask for a few parts at a time, and for another as each is done", () => {
    const many = INGEST.partsAtOnce + 2;
    let state = at("describe", { describe: many });
    const asked = newlyAsked(at("transcribe"), state).map(({ part }) => part);
    expect(asked).toEqual(Array.from({ length: INGEST.partsAtOnce }, (_, part) => part));
    expect(claim(state, { step: "describe", part: many - 1 }, NOW)).toBeUndefined();
    expect(overdue(state, NOW + 86_400_000)!.ask).toHaveLength(INGEST.partsAtOnce);
    for (const part of [3, 0, 1]) {
      const before = state;
      state = complete(
        claim(state, { step: "describe", part }, NOW)!,
        { step: "describe", part },
        {},
        NOW,
      )!;
      asked.push(...newlyAsked(before, state).map((one) => one.part));
    }
    expect(asked).toHaveLength(many);
    expect(new Set(asked).size).toBe(many);
  });

  it("pass over a step that has no parts", () => {
    const silent = at("segment", {});
    expect(shown(finishStep(silent, { listen: 0, describe: 2 })).state).toBe("transcribing");
    expect(finishStep(silent, { listen: 0 })).toMatchObject({ step: "transcribe" });
  });

  it("show progress that starts at 0, only grows, and ends at 1", () => {
    let state: IngestState = begin("video", NOW);
    let last = shown(state).progress!;
    expect(last).toBe(0);
    while (state.phase === "running") {
      const { step, parts }: Running = state;
      for (let part = 0; part < parts.length; part++) {
        state = complete(
          claim(state, { step, part }, NOW)!,
          { step, part },
          { listen: 4, describe: 4, embed: 4 },
          NOW,
        )!;
        expect(shown(state).progress).toBeGreaterThan(last);
        last = shown(state).progress!;
      }
    }
    expect(last).toBe(1);
  });
});

function finishOne(state: IngestState, part: number): IngestState {
  const ref: PartRef = { step: "describe", part };
  return complete(claim(state, ref, NOW)!, ref, undefined, NOW)!;
}

const OUTAGE: Failure = { code: "upstream_unavailable", message: "The model is out." };

describe("a transition that doesn't hold", () => {
  const fresh = begin("video", NOW);
  const claimed = claim(fresh, FIRST, NOW)!;
  const done = complete(claimed, FIRST, undefined, NOW)!;
  const failed = fail(claimed, "fetch", { code: "download_failed", message: "gone" })!;
  const other: PartRef = { step: "embed", part: 0 };
  const beyond: PartRef = { step: "fetch", part: 7 };

  it.each<[string, IngestState | undefined]>([
    ["claiming what another holds", claim(claimed, FIRST, NOW + 1)],
    ["claiming what is done", claim(done, FIRST, NOW)],
    ["claiming another step", claim(fresh, other, NOW)],
    ["claiming a part that isn't there", claim(fresh, beyond, NOW)],
    ["claiming when ready", claim({ phase: "ready" }, FIRST, NOW)],
    ["claiming when failed", claim(failed, FIRST, NOW)],
    ["completing twice", complete(done, FIRST, undefined, NOW)],
    ["completing another step", complete(claimed, other, undefined, NOW)],
    ["completing a part that isn't there", complete(claimed, beyond, undefined, NOW)],
    ["renewing what nobody holds", renew(fresh, FIRST, NOW)],
    ["renewing another step", renew(claimed, other, NOW)],
    ["releasing what nobody holds", release(fresh, FIRST, OUTAGE, NOW)],
    ["releasing another step", release(claimed, other, OUTAGE, NOW)],
    ["failing by another step", fail(claimed, "embed", { code: "internal", message: "" })],
    ["giving up what is done", giveUp(done, FIRST)],
    ["giving up another step", giveUp(claimed, other)],
    ["failing again", fail(failed, "fetch", { code: "internal", message: "" })],
    ["asking when nothing is late", overdue(claimed, NOW + 1)?.state],
    ["asking when ready", overdue({ phase: "ready" }, Infinity)?.state],
  ])("%s gives undefined", (_, result) => {
    expect(result).toBeUndefined();
  });
});

describe("a part that nobody is heard of", () => {
  it("may be claimed by another once its lease has run out", () => {
    const claimed = claim(begin("video", NOW), FIRST, NOW)!;
    expect(claim(claimed, FIRST, NOW + INGEST.leaseMs)).toBeDefined();
    const renewed = renew(claimed, FIRST, NOW + 1000)!;
    expect(claim(renewed, FIRST, NOW + INGEST.leaseMs)).toBeUndefined();
  });

  it("is completed by whoever comes first, also after the lease", () => {
    const claimed = claim(begin("video", NOW), FIRST, NOW)!;
    const again = claim(claimed, FIRST, NOW + INGEST.leaseMs)!;
    expect(complete(again, FIRST, undefined, NOW + INGEST.leaseMs)).toMatchObject({
      step: "probe",
    });
  });

  it("is asked for again, each time later", () => {
    let state: IngestState = begin("video", NOW);
    const waits = [];
    for (let i = 0; i < 7; i++) {
      const due = nextDue(state);
      const late: Late = overdue(state, due)!;
      expect(late.ask).toEqual([FIRST]);
      waits.push(nextDue(late.state) - due);
      state = late.state;
    }
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBe(INGEST.askAgainMs.at(-1));
  });

  it("ends the asset after too many claims", () => {
    let state: IngestState = begin("video", NOW);
    let now = NOW;
    for (let i = 0; i < INGEST.maxAttempts; i++) {
      state = claim(state, FIRST, now)!;
      now += INGEST.leaseMs;
    }
    const late: Late = overdue(state, now)!;
    expect(late.ask).toEqual([]);
    expect(late.state).toMatchObject({ phase: "failed", error: { code: "step_failed" } });
  });
});

describe("a part that is given up", () => {
  it("ends the asset for the reason it was given back for", () => {
    const claimed = claim(begin("video", NOW), FIRST, NOW)!;
    expect(giveUp(claimed, FIRST)).toMatchObject({ error: { code: "step_failed" } });
    const released = release(claimed, FIRST, OUTAGE, NOW)!;
    expect(giveUp(released, FIRST)).toEqual({ phase: "failed", error: OUTAGE });
    expect(giveUp(claim(released, FIRST, NOW)!, FIRST)).toEqual({ phase: "failed", error: OUTAGE });
  });
});

it("says when to look again, also after its state was stored as JSON", () => {
  const state = at("describe");
  const part: PartRef = { step: "describe", part: 0 };
  const oneDone = complete(claim(state, part, NOW)!, part, undefined, NOW)!;
  const stored = JSON.parse(JSON.stringify(oneDone)) as IngestState;
  expect(stored).toEqual(oneDone);
  expect(nextDue(stored)).toBe(NOW + INGEST.askAgainMs[0]!);
  expect(nextDue({ phase: "ready" })).toBe(Infinity);
});
