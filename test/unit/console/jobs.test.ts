import { expect, it } from "vitest";

interface Job {
  kind: string;
  state?: string;
  result?: unknown;
}

/** The functions under test; the console is plain JavaScript without types. */
interface JobWording {
  codeName: (code: string) => string;
  isCancellable: (job: Job) => boolean;
  leftByRepair: (job: Job) => { id: string | null; title: string | null; message: string }[];
  reportOf: (job: Job) => string[];
}

const file = new URL("../../../console/console/administration/job-wording.js", import.meta.url)
  .href;
const { codeName, isCancellable, leftByRepair, reportOf } = (await import(file)) as JobWording;

it("The code of a finding is shown in words", () => {
  expect(codeName("vectors_missing")).toBe("Vectors missing");
});

it.each([
  ["traverse", "running", true],
  ["import", "queued", true],
  ["import_archive", "running", true],
  ["traverse", "succeeded", false],
  ["ingest", "running", false],
])("A job of the kind %s that is %s can be cancelled: %s", (kind, state, expected) => {
  expect(isCancellable({ kind, state })).toBe(expected);
});

it("The report of a repair says what was found and repaired, and names what is left", () => {
  const result = {
    assets: 1200,
    findings: { vectors_missing: 3, source_missing: 1 },
    repaired: { vectors_missing: 3 },
    unrepaired: [
      {
        asset_id: "vid_1",
        title: "Harbour.mp4",
        code: "source_missing",
        message: "The stored file is gone.",
      },
      { asset_id: null, title: null, code: "segments_orphaned", message: "Segments." },
    ],
  };
  expect(reportOf({ kind: "traverse", result })).toEqual([
    "1,200 videos and images checked.",
    "Vectors missing: 3 found, 3 repaired.",
    "Source missing: 1 found, 0 repaired.",
  ]);
  expect(leftByRepair({ kind: "traverse", result })).toEqual([
    { id: "vid_1", title: "Harbour.mp4", message: "The stored file is gone." },
    { id: null, title: null, message: "Segments." },
  ]);
  expect(leftByRepair({ kind: "ingest", result: null })).toEqual([]);
});

it("The report of a repair without findings says so", () => {
  const result = { assets: 1, findings: {}, repaired: {}, unrepaired: [] };
  expect(reportOf({ kind: "traverse", result })).toEqual([
    "1 video or image checked.",
    "Nothing to repair.",
  ]);
});

it("The report of an archive's import counts its assets and names the failed ones", () => {
  const failed = [{ asset_id: "vid_1", code: "too_large", message: "It is too large." }];
  const job = { kind: "import_archive", result: { imported: 2, present: 1, failed } };
  expect(reportOf(job)).toEqual([
    "2 imported, 1 in the index before, 1 failed.",
    "It is too large. (vid_1)",
  ]);
});

it("A job without a result, and one of another kind, has no report", () => {
  expect(reportOf({ kind: "traverse", result: null })).toEqual([]);
  expect(reportOf({ kind: "ingest", result: { asset_id: "vid_1" } })).toEqual([]);
});
