import { expect, it } from "vitest";
import { formatAdvice } from "../../../scripts/demo/better-models.ts";
import {
  countOutcomes,
  formatSummary,
  parseRemedies,
  readRemedies,
} from "../../../scripts/demo/ingest-summary.ts";
import { readRegistry } from "../../../scripts/models/registry.ts";
import type { Ingested } from "../../../tools/ingest-files.ts";
import { formatTotal } from "../../../tools/ingest-progress.ts";
import { formatRemainingTime, RemainingTime } from "../../../tools/remaining-time.ts";

function outcomeOf(name: string, change: Partial<Ingested> = {}): Ingested {
  const path = `/photos/${name}`;
  const state = "ready" as const;
  return {
    name,
    path,
    state,
    assetId: name,
    isDuplicate: false,
    warnings: [],
    seconds: 0,
    ...change,
  };
}

const failed = { state: "failed" as const, assetId: null };

it.each([
  ["two new files", [outcomeOf("a"), outcomeOf("b")], [2, 0, 0, 0]],
  ["a copy after its original", [outcomeOf("a"), copyOf("a")], [1, 1, 0, 0]],
  ["a copy before its original", [copyOf("a"), outcomeOf("a")], [1, 1, 0, 0]],
  ["a file of the index", [copyOf("a")], [0, 0, 1, 0]],
  ["two copies of a file of the index", [copyOf("a"), copyOf("a")], [0, 1, 1, 0]],
  ["a failed file", [outcomeOf("a", failed)], [0, 0, 0, 1]],
])("outcomes count %s once", (_, outcomes, [ready, duplicates, stored, failures]) => {
  expect(countOutcomes(outcomes)).toEqual({ ready, duplicates, stored, failed: failures });
});

function copyOf(assetId: string): Ingested {
  return outcomeOf("copy", { assetId, isDuplicate: true });
}

it("a summary has failed files by code, with the error's sentence and what to do", () => {
  const failure = { ...failed, code: "unreadable_container", message: "It is AVI. More text." };
  const files = Array.from({ length: 12 }, (_, i) => outcomeOf(`f${i}.avi`, failure));
  const text = formatSummary([outcomeOf("a.jpg"), ...files], 3, new Map([[failure.code, "Save."]]));
  expect(text.split("\n")).toEqual([
    "1 ready in 3.0 s.",
    "12 failed:",
    "  It is AVI. (unreadable_container)",
    ...Array.from({ length: 10 }, (_, i) => `    f${i}.avi`),
    "    and 2 more",
    "    What to do: Save.",
    "docs/ingest-errors.md says more.",
  ]);
});

it("remedies are read from the page of ingest errors", async () => {
  expect((await readRemedies()).get("unreadable_container")).toContain("ffmpeg");
  const page =
    "| `a_b` | cause | do [this](x.md) |\n| `none` | cause | – |\n| code | cause | x |\n";
  expect([...parseRemedies(page)]).toEqual([["a_b", "do this (docs/x.md)"]]);
});

it("advice names only what is missing", async () => {
  const models = await readRegistry("local/models.json");
  const all = { hasSpeech: true, hasPulledEmbeddings: true, hasChat: true };
  expect(formatAdvice(all, models)).toBe("");
  const withoutSpeech = formatAdvice({ ...all, hasSpeech: false }, models);
  expect(withoutSpeech).toMatch(/npm run models -- pull whisper-[\w.-]+$/);
  expect(withoutSpeech).not.toContain("LOCAL_LLM_URL");
  expect(formatAdvice({ ...all, hasChat: false }, models)).toContain("LOCAL_LLM_URL=");
});

it.each([
  [
    { done: 12, failed: 1, total: 200, secondsLeft: 245 },
    "12 of 200 files done, 1 failed, about 4 min left",
  ],
  [{ done: 0, failed: 0, total: 1, secondsLeft: null }, "0 of 1 file done"],
])("the total of %j is %j", (total, expected) => {
  expect(formatTotal(total)).toBe(expected);
});

it.each([
  [20, "less than a minute left"],
  [61, "about 1 min left"],
  [3 * 3600 + 300, "about 3 h 5 min left"],
])("%i seconds left are %j", (seconds, expected) => {
  expect(formatRemainingTime(seconds)).toBe(expected);
});

it("the time left follows from the rate of the last minute", () => {
  const remaining = new RemainingTime();
  remaining.record(0, 0);
  expect(remaining.seconds()).toBeNull();
  remaining.record(4000, 0.1);
  expect(remaining.seconds()).toBeNull();
  remaining.record(10_000, 0.1);
  expect(remaining.seconds()).toBeCloseTo(90);
  // A slow minute: 0.1 more.
  for (let at = 11_000; at <= 70_000; at += 1000)
    remaining.record(at, 0.1 + (at - 10_000) / 600_000);
  expect(remaining.seconds()).toBeCloseTo(480);
});
