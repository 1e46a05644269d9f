import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type { Sightline, WatchMatch } from "sightline";
import type { Corpus } from "../tools/calibration/judgments.ts";
import { sampleQueries } from "../tools/calibration/questions.ts";
import { addFile } from "../tools/ingest-files.ts";
import { createRandom } from "../tools/random-numbers.ts";
import { startLoopback } from "../tools/stack/loopback.ts";
import type { SuiteOptions } from "../tools/suite.ts";
import { withRestarts } from "./service-restarts.ts";

const INDEX = "killed";
const WATCHES = 40;
const FILES = 80;
const KILLS = 10;
const MAX_DELAY_MS = 3000;
const POLL_MS = 1000;
const TIMEOUT_MS = 10 * 60_000;

/** The body of a webhook with matches. */
interface Announcement {
  type: string;
  data: { watch_id: string; matches: { segment_id: string }[] };
}

/**
 * Adds files that watches match, kills the service while it ingests and, every second time, while
 * it delivers a webhook. Counts the matches that were announced more than once, and those that
 * never were. A delivery that is repeated has the id of the first.
 */
export async function countAnnouncements(options: SuiteOptions, corpus: Corpus) {
  const deliveries = new Map<string, Announcement>();
  let attempts = 0;
  let inDelivery = Promise.withResolvers<void>();
  let isHeld = false;
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body: Announcement = JSON.parse(await text(request));
    const id = request.headers["webhook-id"];
    if (body.type === "watch.matched" && typeof id === "string") {
      attempts += 1;
      deliveries.set(id, body);
      inDelivery.resolve();
      if (isHeld) return; // until the service is killed
    }
    response.writeHead(204).end();
  };
  const receiver = await startLoopback((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  process.env["FETCH_ALLOW"] = receiver.host;
  try {
    return await withRestarts(options, async (start) => {
      let service = await start();
      try {
        const random = createRandom(1);
        await service.sightline.indices.create({ index_name: INDEX });
        for (const { text: query } of sampleQueries(corpus, WATCHES, random)) {
          const watch = { query, min_probability: 0.3, webhook_url: receiver.origin };
          await service.sightline
            .index(INDEX)
            .watches.create({ name: query.slice(0, 99), ...watch });
        }
        const files = corpus.files.slice(-FILES);
        let added = 0;
        for (let kill = 0; kill < KILLS; kill++) {
          for (; added < (files.length * (kill + 1)) / KILLS; added++) {
            await addFile(service.sightline.index(INDEX), files[added]!);
          }
          inDelivery = Promise.withResolvers();
          isHeld = kill % 2 === 1;
          const delay = wait(isHeld ? 10 * MAX_DELAY_MS : random() * MAX_DELAY_MS);
          await (isHeld ? Promise.race([inDelivery.promise, delay]) : delay);
          await service.stop();
          isHeld = false;
          service = await start();
          options.log(`Killed and started ${kill + 1} of ${KILLS} times.`);
        }
        const pairsOf = () =>
          [...deliveries.values()].flatMap(({ data }) =>
            data.matches.map(({ segment_id: segment }) => `${data.watch_id} ${segment}`),
          );
        const matches = await settle(service.sightline, pairsOf, service.runScheduled);
        const announced = pairsOf();
        const distinct = new Set(announced);
        return {
          kills: KILLS,
          files: files.length,
          matches: matches.length,
          listed_twice: matches.length - new Set(matches).size,
          announced_twice: announced.length - distinct.size,
          not_announced: matches.filter((pair) => !distinct.has(pair)).length,
          attempts,
          deliveries: deliveries.size,
        };
      } finally {
        await service.stop();
      }
    });
  } finally {
    delete process.env["FETCH_ALLOW"];
    await receiver.close();
  }
}

/** Waits until all assets have ended and all matches are announced, or nothing changes any more. */
async function settle(
  sightline: Sightline,
  pairsOf: () => string[],
  runScheduled: () => void,
): Promise<string[]> {
  for (const start = Date.now(); Date.now() - start < TIMEOUT_MS; await wait(POLL_MS)) {
    runScheduled();
    let isSettled = true;
    for await (const { state } of sightline.index(INDEX).assets({ limit: 100 })) {
      isSettled &&= ["ready", "failed"].includes(state);
    }
    if (!isSettled) continue;
    const matches = await listMatches(sightline);
    const announced = new Set(pairsOf());
    if (matches.every((pair) => announced.has(pair))) return matches;
  }
  return listMatches(sightline);
}

async function listMatches(sightline: Sightline): Promise<string[]> {
  const { watches } = sightline.index(INDEX);
  const pairs: string[] = [];
  for await (const { watch_id: id } of watches.list({ limit: 100 })) {
    const own: WatchMatch[] = [];
    for await (const match of watches.matches(id, { limit: 100 })) own.push(match);
    pairs.push(...own.map(({ segment }) => `${id} ${segment.segment_id}`));
  }
  return pairs;
}
