import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite, type SuiteOptions } from "../../tools/suite.ts";

const ASSETS = 20_000;
const BATCH = 500;
const INDEX = "deleted";
const LOADING_WORKER = "bench/deletion/deletion-worker.ts";

interface MessageCalls {
  queries: number;
  subrequests: number;
  seconds: number;
}

export const suite: Suite = {
  summary:
    "messages, queries of D1 and seconds of the deletion of an index of 20,000 images (or of one " +
    "number in --sizes), each with a segment, two vectors and two objects",
  run: (options) =>
    withService(options, (service) => measure(service, options), { entry: LOADING_WORKER }),
};

async function measure({ url, account, sightline }: Service, options: SuiteOptions) {
  const { sizes, log, signal } = options;
  const assets = sizes.length === 1 ? sizes[0]! : ASSETS;
  await sightline.indices.create({ index_name: INDEX });
  for (let from = 0; from < assets; from += BATCH) {
    if (from % 5000 === 0) log(`Loading from image ${from} on`);
    const count = Math.min(BATCH, assets - from);
    const query = new URLSearchParams({
      account,
      index: INDEX,
      from: `${from}`,
      count: `${count}`,
    });
    const response = await fetch(`${url}/load?${query.toString()}`, { method: "POST", signal });
    if (!response.ok) throw new Error(`Loading failed: ${await response.text()}`);
  }
  const startedAt = Date.now();
  const { job_id } = await sightline.indices.delete(INDEX);
  const { state, result } = await sightline.jobs.wait(job_id, { signal });
  const seconds = round((Date.now() - startedAt) / 1000, 0);
  const messages = (await (await fetch(`${url}/messages`)).json()) as MessageCalls[];
  const most = (name: keyof MessageCalls) => Math.max(...messages.map((each) => each[name]));
  const row = {
    images: assets,
    messages: messages.length,
    "most queries of D1": most("queries"),
    "most calls": most("subrequests"),
    "longest message, s": round(most("seconds"), 0),
    "in all, s": seconds,
  };
  const json = { assets, state, result, seconds, messages };
  return { table: [row], json, problems: state === "succeeded" ? 0 : 1 };
}
