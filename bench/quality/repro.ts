import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Sightline } from "sightline";
import { openFile } from "sightline/node";
import * as z from "zod";
import { poll } from "../../tools/poll.ts";
import { withService } from "../../tools/service.ts";
import type { Suite } from "../../tools/suite.ts";

/** What a file is expected to become. What is absent isn't checked. */
const expectation = z.object({
  /** `refused`: the upload is a 422. */
  state: z.enum(["ready", "failed", "refused"]).default("ready"),
  duration_seconds: z.number().optional(),
  /** Starts of the segments but the first, in seconds. */
  cuts: z.array(z.number()).optional(),
  /** Start in seconds and text of each cue of the transcript. */
  cues: z.array(z.tuple([z.number(), z.string()])).optional(),
  /** Words that a search finds in the speech or in the image, each by itself. */
  finds: z.array(z.string()).default([]),
  /** Words that are in no text of a segment. */
  lacks: z.array(z.string()).default([]),
  /** Codes of the warnings, in any order; with `!`, they may be there. */
  warnings: z.array(z.string()).default([]),
  /** Text that a warning's message has. */
  message: z.string().optional(),
});
const cases = z.array(
  z.object({
    /** File of the folder; an image if its name ends as one. */
    file: z.string(),
    transcript: z.string().optional(),
    transcript_encoding: z.string().optional(),
    expected: expectation,
  }),
);
type Case = z.infer<typeof cases>[number];

/** Tolerance of times in seconds: a frame at 10 fps. */
const CASE_MS = 5 * 60_000;
const MAX_TIME_ERROR = 0.1;
const IMAGE = /\.(?:png|jpe?g|gif|webp|tiff?|bmp|avif|heic|jp2)$/i;

/** Adds the files of a case to an index of its own, and returns how the result differs. */
async function runCase(sightline: Sightline, dataDir: string, position: number, testCase: Case) {
  const { file, transcript, transcript_encoding: encoding, expected } = testCase;
  const name = `case-${position}`;
  const { index_name } = await sightline.indices.create({ index_name: name });
  const index = sightline.index(index_name);
  const media = await openFile(join(dataDir, file));
  const isImage = IMAGE.test(file);
  const parts = {
    ...(transcript !== undefined && { transcript: await openFile(join(dataDir, transcript)) }),
    ...(encoding !== undefined && { transcript_encoding: encoding }),
  };
  const adding = isImage
    ? index.images.add({ image_file: media })
    : index.videos.add({ video_file: media, ...parts });
  const added = await adding.catch((error: unknown) => error as Error & { status?: number });
  if (added instanceof Error) {
    const isRefused = expected.state === "refused" && added.status === 422;
    return isRefused ? [] : [`${added.status}: ${added.message}`];
  }
  const kind = isImage ? index.images : index.videos;
  const asset = await poll(CASE_MS, `${file}: its ingest`, async () => {
    const current = await kind.get(added.asset_id);
    return current.state === "ready" || current.state === "failed" ? current : undefined;
  });
  const differences: string[] = [];
  const compare = (what: string, is: unknown, shall: unknown, equal: boolean) => {
    if (!equal) differences.push(`${what} ${JSON.stringify(is)}, not ${JSON.stringify(shall)}`);
  };
  compare(
    "state",
    asset.error?.code ?? asset.state,
    expected.state,
    asset.state === expected.state,
  );
  if (asset.state !== "ready") return differences;
  if (expected.duration_seconds !== undefined) {
    const { duration_seconds: seconds } = asset;
    compare(
      "duration",
      seconds,
      expected.duration_seconds,
      near(seconds, expected.duration_seconds),
    );
  }
  const codes: string[] = asset.warnings.map(({ code }) => code);
  const required = expected.warnings.filter((code) => !code.endsWith("!"));
  const allowed = new Set(expected.warnings.map((code) => code.replace("!", "")));
  const areWarned =
    required.every((code) => codes.includes(code)) && codes.every((code) => allowed.has(code));
  compare("warnings", codes, expected.warnings, areWarned);
  const messages = asset.warnings.map(({ message }) => message).join(" ");
  if (expected.message !== undefined) {
    compare("message", messages, expected.message, messages.includes(expected.message));
  }
  if (expected.cuts) {
    const { items } = await index.videos.segments(added.asset_id);
    const cuts = items.slice(1).map(({ start_seconds: start }) => start!);
    compare("cuts", cuts, expected.cuts, areNear(cuts, expected.cuts));
  }
  if (expected.cues) {
    const stored = await index.videos.transcript(added.asset_id);
    const cues = stored.cues.map(({ start, text }) => [start, text] as const);
    const areEqual =
      areNear(
        cues.map(([start]) => start),
        expected.cues.map(([start]) => start),
      ) && cues.every(([, text], i) => text === expected.cues![i]![1]);
    compare("cues", cues, expected.cues, areEqual);
  }
  for (const word of [...expected.finds, ...expected.lacks]) {
    const { segments } = await index.search({ query: word });
    const texts = segments.flatMap(({ evidence }) => evidence.map(({ text = "" }) => text ?? ""));
    const isFound = texts.some((text) => text.includes("<mark>"));
    const shall = expected.finds.includes(word);
    compare(
      `"${word}"`,
      isFound ? "found" : "not found",
      shall ? "found" : "absent",
      isFound === shall,
    );
  }
  return differences;
}

const near = (a: number | null, b: number) => a !== null && Math.abs(a - b) <= MAX_TIME_ERROR;
const areNear = (a: number[], b: number[]) =>
  a.length === b.length && a.every((value, i) => near(value, b[i]!));

export const suite: Suite = {
  summary:
    "files of <DIR> against the expectations in --cases: duration, cuts, cues, words, warnings",
  async run(options) {
    const { dataDir, casesFile, log } = options;
    const path = casesFile ?? join(dataDir, "cases.json");
    const all = cases.parse(JSON.parse(await readFile(path, "utf8")));
    const table = await withService(options, async ({ sightline }) => {
      const rows: Record<string, string>[] = [];
      for (const [position, testCase] of all.entries()) {
        const differences = await runCase(sightline, dataDir, position, testCase);
        const file = [testCase.file, testCase.transcript]
          .filter(Boolean)
          .map((own) => basename(own!));
        const result = differences.length === 0 ? "right" : differences.join("; ");
        log(`${file.join(" + ")}: ${result}`);
        rows.push({ file: file.join(" + "), result: result.slice(0, 160) });
      }
      return rows;
    });
    const problems = table.filter(({ result }) => result !== "right").length;
    return { table, json: { cases: table.length, wrong: problems, table }, problems };
  },
};
