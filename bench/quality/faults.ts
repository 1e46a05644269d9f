import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Asset } from "sightline";
import { addFile } from "../../tools/ingest-files.ts";
import { createRandom } from "../../tools/random-numbers.ts";
import { buildSamplePack, type SampleFile } from "../../tools/sample/pack.ts";
import { type Service, withService } from "../../tools/service.ts";
import type { Suite } from "../../tools/suite.ts";
import { type Fault, FAULTS } from "../faults/catalogue.ts";

/** Files of the sample pack: a video with speech, an image with text, a photograph. */
const FILES = new Set(["story.mp4", "poster.jpg", "nagasaki.jpg"]);
/** What the stand-in for the speech model recognises, whatever is installed. */
const SPEECH = "The carpenter left the cabin.\nThe bees come for the clover.\n";
const TIMES = 2;
const POLL_MS = 200;
const TIMEOUT_MS = 120_000;

/** How the assets of one run ended. */
interface Outcome {
  faults: string;
  /** Outcome of each asset: `ready`, with the codes of its warnings, or `failed`, with its own. */
  states: string[];
  /** Codes that none of the faults explains. */
  untrue: string[];
  /** Assets that failed for good, because the platform blamed the file, and were retried. */
  retried: number;
  isWhole: boolean;
}

async function runFaults(
  service: Service,
  files: SampleFile[],
  indexName: string,
  faults: Fault[],
): Promise<Outcome> {
  const { sightline, url } = service;
  const control = (method: string, path: string, query: Record<string, string>) =>
    fetch(`${url}${path}?${new URLSearchParams(query).toString()}`, { method });
  await sightline.indices.create({ index_name: indexName });
  const index = sightline.index(indexName);
  for (const { target, fault } of faults) {
    await control("POST", "/faults", { target, fault, times: String(TIMES) });
  }
  for (const { path, kind } of files) await addFile(index, { path, kind });
  const settle = async (): Promise<Asset[]> => {
    for (const start = Date.now(); Date.now() - start < TIMEOUT_MS; await wait(POLL_MS)) {
      await control("POST", "/waits", { index: indexName });
      const { items } = await index.assets();
      if (items.every(({ state }) => ["ready", "failed"].includes(state))) return items;
    }
    throw new Error(`With ${nameOf(faults)}, an asset never ended.`);
  };
  const ended = await settle();
  for (const { target } of faults) await control("DELETE", "/faults", { target });
  const codes = ended.flatMap(codesOf);
  const explained = new Set(faults.flatMap((fault) => fault.codes));
  const { job_id: jobId } = await index.repair();
  await sightline.jobs.wait(jobId, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const blamed = (await settle()).filter(({ state }) => state === "failed");
  for (const { asset_type: type, asset_id: id } of blamed) {
    await (type === "video" ? index.videos : index.images).retry(id);
  }
  const assets = await settle();
  const { items: nodes } = await index.traverse();
  return {
    faults: nameOf(faults),
    states: ended.map((asset) => [asset.state, ...codesOf(asset)].join(" ")),
    untrue: codes.filter((code) => !explained.has(code)),
    retried: blamed.length,
    isWhole:
      assets.every((asset) => asset.state === "ready" && codesOf(asset).length === 0) &&
      nodes.every(({ health }) => health.findings.length === 0),
  };
}

function codesOf({ error, warnings }: Asset): string[] {
  return [...(error ? [error.code] : []), ...warnings.map(({ code }) => code)];
}

function nameOf(faults: Fault[]): string {
  return faults.map(({ name }) => name).join(" + ") || "none";
}

/** Lists each fault alone, then `count` pairs of different targets, in an order by `seed`. */
export function planRuns(count: number, seed: number): Fault[][] {
  const pairs = FAULTS.flatMap((first, i) =>
    FAULTS.slice(i + 1)
      .filter(({ target }) => target !== first.target)
      .map((second) => [first, second]),
  );
  const random = createRandom(seed);
  const shuffled = pairs.map((pair) => ({ pair, order: random() }));
  shuffled.sort((a, b) => a.order - b.order);
  const chosen = shuffled.slice(0, count).map(({ pair }) => pair);
  return [[], ...FAULTS.map((fault) => [fault]), ...chosen];
}

export const suite: Suite = {
  summary: "every fault of the stand-ins alone, and --requests pairs: is each outcome true?",
  async run(options) {
    const { files } = await buildSamplePack();
    const chosen = files.filter(({ path }) => FILES.has(basename(path)));
    const folder = await mkdtemp(join(tmpdir(), "sightline-faults-"));
    process.env["SPEECH_SCRIPT"] = join(folder, "speech.txt");
    await writeFile(process.env["SPEECH_SCRIPT"], SPEECH);
    try {
      const measure = async (service: Service) => {
        const outcomes: Outcome[] = [];
        for (const [i, faults] of planRuns(options.requests, options.seed).entries()) {
          const outcome = await runFaults(service, chosen, `run-${i}`, faults);
          outcomes.push(outcome);
          const { states, untrue, isWhole } = outcome;
          const verdict = untrue.length === 0 && isWhole ? "" : " ← WRONG";
          options.log(`${i}. ${outcome.faults}: ${states.join(", ")}${verdict}`);
        }
        return outcomes;
      };
      const outcomes = await withService(options, measure, {
        entry: "bench/faults/faults-worker.ts",
      });
      const rows = outcomes.map(({ states, untrue, isWhole, ...row }) => {
        return { ...row, states: states.join(", "), untrue: untrue.join(" "), whole: `${isWhole}` };
      });
      const wrong = outcomes.filter(({ untrue, isWhole }) => untrue.length > 0 || !isWhole);
      const json = { runs: outcomes.length, wrong: wrong.length, outcomes };
      return { table: [...rows, { faults: `${wrong.length} of ${outcomes.length} wrong` }], json };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
