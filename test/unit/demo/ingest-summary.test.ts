import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { formatOffer, listMissing } from "../../../scripts/demo/better-models.ts";
import {
  countOutcomes,
  formatSummary,
  parseRemedies,
  readRemedies,
} from "../../../scripts/demo/ingest-summary.ts";
import { formatSkipped } from "../../../scripts/demo/skipped-files.ts";
import { readRegistry } from "../../../scripts/models/registry.ts";
import type { Ingested } from "../../../tools/ingest-files.ts";
import { findMedia } from "../../../tools/media-files.ts";

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
    "docs/formats.md says more.",
  ]);
});

it("a warning names its files", () => {
  const warnings = [{ code: "model_not_found" as const, message: "No speech model. More text." }];
  const files = ["a.mp4", "b.mp4"].map((name) => outcomeOf(name, { warnings }));
  expect(formatSummary([...files, outcomeOf("c.mp4")], 3, new Map()).split("\n")).toEqual([
    "3 ready in 3.0 s.",
    "Warning for 2 files: No speech model. More text. (model_not_found)",
    "    a.mp4",
    "    b.mp4",
  ]);
});

it("a second run counts no video, and names files that have another name in the index", () => {
  const known = { isDuplicate: true, seconds: 30 };
  const files = [
    outcomeOf("a.mp4", { ...known, title: "a.mp4" }),
    outcomeOf("Trip/b.mp4", { ...known, title: "b.mp4" }),
    outcomeOf("Oma.mp4", { ...known, title: "IMG_1.mp4" }),
  ];
  expect(formatSummary(files, 3, new Map()).split("\n")).toEqual([
    "0 ready in 3.0 s.",
    "3 were in the index already.",
    "In the index under another name, by which they are found:",
    "    Oma.mp4: as IMG_1.mp4",
  ]);
});

it("failures of one code with different sentences are listed apart, and what to do once", () => {
  const failure = (name: string, type: string) => {
    const message = `The bytes are ${type}; send a JPEG.`;
    return outcomeOf(name, { ...failed, code: "unsupported_media_type", message });
  };
  const files = [failure("a.avif", "image/avif"), failure("b.tif", "image/tiff")];
  const text = formatSummary(files, 1, new Map([["unsupported_media_type", "Save it."]]));
  expect(text.split("\n").slice(2)).toEqual([
    "  The bytes are image/avif; send a JPEG. (unsupported_media_type)",
    "    a.avif",
    "  The bytes are image/tiff; send a JPEG. (unsupported_media_type)",
    "    b.tif",
    "    What to do: Save it.",
    "docs/formats.md says more.",
  ]);
});

it("files that are left out are named by what they are, up to five of a kind", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sightline-media-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const notes = Array.from({ length: 7 }, (_, i) => `notes ${i}.txt`);
  const contents = { "empty.jpg": "", "manual.jpg": "%PDF-1.7\n" };
  for (const [name, text] of Object.entries(contents)) await writeFile(join(folder, name), text);
  for (const name of notes) await writeFile(join(folder, name), "only text");
  const { skipped } = await findMedia([folder]);
  expect(formatSkipped(skipped)).toBe(
    "9 files are left out, because they are no video or image:\n" +
      "  empty: empty.jpg\n" +
      "  application/pdf: manual.jpg\n" +
      "  of an unknown format: notes 0.txt, notes 1.txt, notes 2.txt, notes 3.txt,\n" +
      "    notes 4.txt and 2 more",
  );
  expect(formatSkipped([])).toBe("");
});

it("remedies are read from the page of ingest errors", async () => {
  expect((await readRemedies()).get("unreadable_container")).toContain("ffmpeg");
  expect((await readRemedies()).get("not_a_video")).toContain("the message says what the file is");
  const page =
    "| `a_b` | cause | do [this](x.md) |\n| `none` | cause | – |\n| code | cause | x |\n";
  expect([...parseRemedies(page)]).toEqual([["a_b", "do this (docs/x.md)"]]);
});

it("the offer of models names what is missing with size and licence, and what is found without", async () => {
  const models = await readRegistry("local/models.json");
  const all = { speech: "/models/whisper", embeddings: "/models/clip" };
  expect(listMissing(all, models)).toEqual([]);
  const missing = listMissing({ ...all, speech: null }, models);
  expect(missing.map(({ capability }) => capability)).toEqual(["speech"]);
  const offer = formatOffer(missing);
  expect(offer).toMatch(/whisper-[\w.-]+ +[\d.]+ MB +MIT +recognises speech/);
  expect(offer).not.toContain("80 kinds of objects");
  const both = listMissing({ speech: null, embeddings: null }, models);
  expect(formatOffer(both)).toContain("80 kinds of objects");
});
