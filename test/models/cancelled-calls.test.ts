import { env, exports } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { errorOf, localAi } from "../local/bindings.ts";
import { type Client } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import { startAsset } from "../support/ingest-helpers.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { scriptAnswers } from "../support/scripted-model.ts";
import { waitUntil } from "../support/wait.ts";
import { WATCHDOG_MS } from "../support/watchdog.ts";

const ai = localAi();
const [EMBED, ANSWER] = [MODELS.embedText.id, MODELS.answer.id];
/** Delays that end after the test's watchdog. */
const [NEVER, NEVER_FREE] = [`slow:${2 * WATCHDOG_MS}`, `busy:${2 * WATCHDOG_MS}`] as const;
let client: Client;

beforeAll(async () => {
  ({ client } = await createSampleIndex());
});

beforeEach(async () => {
  for (const model of [EMBED, ANSWER]) {
    await ai.clearFaults(model);
    await ai.takeCancelledCalls(model);
  }
});

const searchBody = () => JSON.stringify({ query: `a keeper ${crypto.randomUUID()}` });

describe("a model call of a client that goes away", () => {
  it("is cancelled if it is a search's, although the Worker has yet to write usage", async () => {
    const usageWriteSeconds = env.USAGE_WRITE_SECONDS;
    Object.assign(env, { USAGE_WRITE_SECONDS: "10" });
    await ai.inject(EMBED, NEVER);
    const leaving = new AbortController();
    const request = new Request("https://sightline.test/index/trip/search", {
      method: "POST",
      headers: { "x-api-key": client.key, "content-type": "application/json" },
      body: searchBody(),
      signal: leaving.signal,
    });
    const failure = errorOf(exports.default.fetch(request));
    await waitUntil(async () => (await ai.countPendingFaults(EMBED)) === 0);
    leaving.abort(new Error("gone"));
    expect((await failure).message).toBe("gone");
    await expect.poll(() => ai.takeCancelledCalls(EMBED)).toBe(1);
    Object.assign(env, { USAGE_WRITE_SECONDS: usageWriteSeconds });
  });

  it("is cancelled if it is an answer's", async () => {
    await scriptAnswers("The keeper lives with goats. [1]");
    await ai.inject(ANSWER, NEVER);
    const leaving = new AbortController();
    const path = "/index/trip/answer?query=Who+keeps+the+goats%3F";
    const response = fetchDeployed({}, client.key, path, { signal: leaving.signal });
    await waitUntil(async () => (await ai.countPendingFaults(ANSWER)) === 0);
    leaving.abort();
    await response;
    await expect.poll(() => ai.takeCancelledCalls(ANSWER)).toBe(1);
  });
});

describe("a model that is busy", () => {
  it("fails a search's call at once, and the search uses other channels", async () => {
    await ai.inject(EMBED, NEVER_FREE);
    const body = JSON.parse(searchBody());
    const { segments } = await client.json("POST", "/index/trip/search", { json: body });
    expect(segments.length).toBeGreaterThan(0);
    for (const { signals } of segments) expect(signals).not.toHaveProperty("text_margin");
  });

  it("fails an answer's call at once, and the answer quotes the index", async () => {
    await ai.inject(ANSWER, NEVER_FREE);
    const answer = await client.json("GET", "/index/trip/answer?query=Who+lives+with+the+goats%3F");
    expect(answer).toMatchObject({ model: "extractive", grounded: true });
  });

  it("delays an ingest, which waits for its capacity", async () => {
    await ai.inject(EMBED, "busy:1000");
    const { asset } = await startAsset(client, "waits-for-capacity");
    const record = await client.waitForAsset("waits-for-capacity", asset);
    expect(record).toMatchObject({ state: "ready", error: null, warnings: [] });
  });
});
