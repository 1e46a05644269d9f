import { describe, expect, it } from "vitest";
import { ConflictError, ConnectionError, ServerError } from "../../client/src/index.ts";
import { fixture } from "../support/client.ts";
import { inOrder, loseResponse, newSightline, recordingFetch, refuse } from "./service.ts";

const busy = refuse(503, { "retry-after": "0" });

describe("a request that the service refuses for the moment", () => {
  it.each([429, 502, 503, 504])("with status %i is sent another time", async (status) => {
    const { fetch, sent } = recordingFetch(inOrder(refuse(status, { "retry-after": "0" })));
    const sightline = await newSightline({ fetch });
    expect(await sightline.stats()).toMatchObject({ indices: 0 });
    expect(sent).toHaveLength(2);
  });

  it("is sent maxRetries times more, and then throws the last error", async () => {
    const { fetch, sent } = recordingFetch(busy);
    const sightline = await newSightline({ fetch, maxRetries: 2 });
    await expect(sightline.stats()).rejects.toBeInstanceOf(ServerError);
    expect(sent).toHaveLength(3);
  });

  it("isn't sent another time after its signal has aborted", async () => {
    const { fetch, sent } = recordingFetch(refuse(503, { "retry-after": "30" }));
    const sightline = await newSightline({ fetch });
    const stop = new AbortController();
    const waiting = sightline.stats({ signal: stop.signal });
    await expect.poll(() => sent).toHaveLength(1);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(sent).toHaveLength(1);
  });

  it("isn't sent another time after the signal of the client has aborted", async () => {
    const stop = new AbortController();
    const { fetch, sent } = recordingFetch(refuse(503, { "retry-after": "30" }));
    const sightline = await newSightline({ fetch, signal: stop.signal });
    const waiting = sightline.stats();
    await expect.poll(() => sent).toHaveLength(1);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(sightline.index("a").waitUntilReady("vid_1")).rejects.toThrow("enough");
    expect(sent).toHaveLength(1);
  });

  it("isn't sent another time if it changes something and takes no Idempotency-Key", async () => {
    const { fetch, sent } = recordingFetch(busy);
    const sightline = await newSightline({ fetch });
    const change = sightline.indices.update("a", { description: "b" });
    await expect(change).rejects.toBeInstanceOf(ServerError);
    expect(sent).toHaveLength(1);
  });

  it("isn't sent another time if its body is a stream", async () => {
    const { fetch, sent } = recordingFetch(refuse(429, { "retry-after": "0" }));
    const sightline = await newSightline({ fetch });
    const archive = sightline.index("a").importArchive(new Blob(["{}\n"]).stream());
    await expect(archive).rejects.toMatchObject({ status: 429 });
    expect(sent).toHaveLength(1);
  });

  it("is sent another time if it searches, unless it would queue another job", async () => {
    const { fetch, sent } = recordingFetch(busy);
    const sightline = await newSightline({ fetch, maxRetries: 1 });
    const index = sightline.index("a");
    await expect(index.search("boat")).rejects.toBeInstanceOf(ServerError);
    expect(sent).toHaveLength(2);
    const queued = index.search({ query: "boat", queue_job: true });
    await expect(queued).rejects.toBeInstanceOf(ServerError);
    expect(sent).toHaveLength(3);
  });
});

describe("an operation whose response is lost", () => {
  it("creates one index", async () => {
    const { fetch, sent } = recordingFetch(inOrder(loseResponse));
    const sightline = await newSightline({ fetch });
    const { index_name } = await sightline.indices.create({ description: "trip" });
    expect(sent).toHaveLength(2);
    expect(sent[0]!.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(sent[1]!.key).toBe(sent[0]!.key);
    const page = await sightline.indices.list();
    expect(page.items.map((index) => index.index_name)).toEqual([index_name]);
  });

  it("adds one asset and one job", async () => {
    const { fetch, sent } = recordingFetch(inOrder(() => undefined, loseResponse));
    const sightline = await newSightline({ fetch });
    await sightline.indices.create({ index_name: "a" });
    const added = await sightline.index("a").images.add({ image_file: await fixture("words.jpg") });
    expect(added).toMatchObject({ duplicate: false, state: "queued" });
    expect(sent.filter(({ path }) => path === "/index/a/image")).toHaveLength(2);
    expect((await sightline.index("a").assets()).total).toBe(1);
    await sightline.index("a").waitUntilReady(added.asset_id);
    expect((await sightline.jobs.list()).items).toHaveLength(1);
  });

  it("makes one API key, and says that its secret is lost", async () => {
    const losing = await newSightline({ fetch: recordingFetch(inOrder(loseResponse)).fetch });
    await expect(losing.keys.create({ name: "ci" })).rejects.toBeInstanceOf(ConflictError);
    expect((await losing.keys.list()).items.filter(({ name }) => name === "ci")).toHaveLength(1);
  });

  it("throws a ConnectionError if all of its responses are lost", async () => {
    const { fetch, sent } = recordingFetch(loseResponse);
    const sightline = await newSightline({ fetch, maxRetries: 1 });
    await expect(sightline.indices.create()).rejects.toBeInstanceOf(ConnectionError);
    expect(sent).toHaveLength(2);
  });
});

it("an Idempotency-Key of the caller is sent in place of a random one", async () => {
  const { fetch, sent } = recordingFetch();
  const sightline = await newSightline({ fetch });
  const options = { idempotencyKey: "import-7" };
  const first = await sightline.indices.create({}, options);
  expect(await sightline.indices.create({}, options)).toEqual(first);
  expect(sent.map(({ key }) => key)).toEqual(["import-7", "import-7"]);
});
