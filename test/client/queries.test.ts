import { beforeAll, describe, expect, it } from "vitest";
import { type AnswerEvent, NotFoundError, type Sightline } from "../../client/src/index.ts";
import { hostFiles, toBody } from "../support/archive-helpers.ts";
import { fixture } from "../support/client.ts";
import { createSampleIndex, type SampleIndex } from "../support/sample-index.ts";
import { collect, newSightline, recordingFetch } from "./service.ts";

let sample: SampleIndex;
let sightline: Sightline;

beforeAll(async () => {
  sample = await createSampleIndex();
  sightline = await newSightline({ apiKey: sample.client.key });
});

describe("a list of the client", () => {
  it("gives its first page to await", async () => {
    const page = await sightline.index("trip").assets({ limit: 2 });
    expect(page).toMatchObject({ total: 3 });
    expect(page.items).toHaveLength(2);
    expect(page.next_cursor).toMatch(/./);
  });

  it("gives the items of all pages to for await", async () => {
    const { fetch, sent } = recordingFetch();
    const counting = await newSightline({ apiKey: sample.client.key, fetch });
    const assets = await collect(counting.index("trip").assets({ limit: 1 }));
    const ids = [sample.video, sample.words, sample.boats].map(
      ({ asset_id }) => asset_id as string,
    );
    expect(assets.map(({ asset_id }) => asset_id).sort()).toEqual(ids.sort());
    expect(sent).toHaveLength(3);
  });

  it("takes filters", async () => {
    const images = await sightline.index("trip").assets({ type: "image", state: "ready" });
    expect(images.total).toBe(2);
    expect((await sightline.index("trip").videos.list()).total).toBe(1);
    expect((await sightline.index("trip").images.list()).total).toBe(2);
  });
});

describe("a search of the client", () => {
  it("of a text finds the moment in which it is spoken", async () => {
    const { segments } = await sightline.index("trip").search("lighthouse keeper");
    expect(segments[0]).toMatchObject({ asset_id: sample.video.asset_id, rank: 1 });
    expect(segments[0]!.evidence[0]!.kind).toBe("speech");
  });

  it("yields the hits of all pages", async () => {
    const { fetch, sent } = recordingFetch();
    const counting = await newSightline({ apiKey: sample.client.key, fetch });
    const request = { query: "a boat, a lighthouse or a lantern", top_k: 1 };
    const hits = await collect(counting.index("trip").searchAll(request));
    expect(hits.length).toBeGreaterThan(1);
    expect(hits.map(({ rank }) => rank)).toEqual(hits.map((_, i) => i + 1));
    expect(sent.length).toBeGreaterThanOrEqual(hits.length);
  });

  it("of several indices yields the hits of all pages, with the names of the indices", async () => {
    await sightline.indices.create({ index_name: "none-yet" });
    const request = { index_names: ["trip", "none-yet"], query: "a boat, a lighthouse", top_k: 1 };
    const { segments, partial } = await sightline.search({ ...request, top_k: 10 });
    expect(partial).toEqual([]);
    expect(segments[0]).toMatchObject({ index_name: "trip", rank: 1 });
    const hits = await collect(sightline.searchAll(request));
    expect(hits.map(({ segment_id }) => segment_id)).toEqual(
      segments.map(({ segment_id }) => segment_id),
    );
    const unknown = sightline.search({ index_names: ["nothing"], query: "boat" });
    await expect(unknown).rejects.toBeInstanceOf(NotFoundError);
  });

  it("by an image finds the image", async () => {
    const image_file = await fixture("boats-mirror.jpg");
    const { segments } = await sightline.index("trip").searchByImage({ image_file, top_k: 1 });
    expect(segments).toMatchObject([{ asset_id: sample.boats.asset_id }]);
  });

  it("by an image takes the filter and the ids of assets that a search with words takes", async () => {
    const image_file = await fixture("boats.jpg");
    const example = { image_file, filter: { camera: { $in: ["A"] } } };
    const index = sightline.index("trip");
    const { segments } = await index.searchByImage({ ...example, group_by: "asset" });
    expect(segments).toMatchObject([{ asset_id: sample.video.asset_id }]);
    const ids = [sample.boats.asset_id, sample.words.asset_id];
    expect(await index.searchByImage({ ...example, asset_ids: ids })).toMatchObject({ total: 0 });
  });

  it("by a clip finds the video", async () => {
    const video_file = await fixture("clip.mp4");
    const request = { video_file, top_k: 1, start_seconds: 3, end_seconds: 6 };
    const { segments } = await sightline.index("trip").searchByVideo(request);
    expect(segments).toMatchObject([{ asset_id: sample.video.asset_id }]);
  });
});

describe("an answer of the client", () => {
  const query = "How many goats live with the keeper?";

  it("cites the moment that it is from", async () => {
    const answer = await sightline.index("trip").answer(query);
    expect(answer).toMatchObject({
      grounded: true,
      citations: [{ marker: 1, asset_id: sample.video.asset_id }],
    });
  });

  it("about images and about one video has the shape of any answer", async () => {
    const index = sightline.index("trip");
    const fromImages = await index.answerFromImages({ query, search_term: "lighthouse" });
    expect(fromImages.model).toMatch(/./);
    const range = { query, start_time: 3, end_time: 6 };
    expect((await index.answerVideo(sample.video.asset_id, range)).model).toMatch(/./);
  });

  it("streams its citations, its words and the whole answer", async () => {
    const messages: AnswerEvent[] = await collect(
      sightline.index("trip").streamAnswer({ query, markdown: true }),
    );
    expect(messages[0]!.event).toBe("citations");
    const done = messages.at(-1)!;
    if (done.event !== "done") throw new Error("The stream has no end.");
    const words = messages.flatMap((message) =>
      message.event === "delta" ? [message.data.text] : [],
    );
    expect(words.join("")).toBe(done.data.answer);
    expect(done.data.grounded).toBe(true);
  });

  it("from several indices is the same whole and streamed", async () => {
    const question = { index_names: ["*"], query };
    const whole = await sightline.answer(question);
    expect(whole).toMatchObject({ grounded: true, partial: [] });
    const last = (await collect(sightline.streamAnswer(question))).at(-1);
    expect(last).toMatchObject({ event: "done", data: { answer: whole.answer, partial: [] } });
  });

  it("streamed about an unknown index throws a NotFoundError", async () => {
    const stream = sightline.index("none").streamAnswer(query);
    await expect(stream.next()).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe("an index seen by the client", () => {
  it("can be read, changed and repaired", async () => {
    const change = { description: "Two days", settings: { language: "en" } };
    expect(await sightline.indices.update("trip", change)).toMatchObject(change);
    expect(await sightline.indices.get("trip")).toMatchObject({ counts: { videos: 1, images: 2 } });
    const pages = await collect(sightline.index("trip").traverse({ limit: 2 }).pages());
    expect(pages.map(({ items }) => items.length)).toEqual([2, 1]);
    expect(pages[0]!.items[0]).toMatchObject({ health: { ok: true } });
    expect(pages.map(({ health }) => health)).toEqual([null, { ok: true, findings: [] }]);
    const { job_id } = await sightline.index("trip").repair();
    expect(await sightline.jobs.wait(job_id)).toMatchObject({ state: "succeeded" });
  });

  it("can be exported, and imported into another account", async () => {
    const stream = await sightline.index("trip").export({ media: true });
    const lines = (await new Response(stream).text()).trimEnd().split("\n");
    const hosted = await Promise.all(lines.map((line) => hostFiles(JSON.parse(line))));
    const other = await newSightline();
    await other.indices.create({ index_name: "copy" });
    const { job_id } = await other.index("copy").importArchive(new Blob([toBody(hosted)]));
    expect(await other.jobs.wait(job_id)).toMatchObject({ state: "succeeded" });
    expect((await other.index("copy").assets()).total).toBe(3);
  });

  it("yields its events, after those that were missed", async () => {
    const index = sightline.index("trip");
    const stop = new AbortController();
    const opened = Promise.withResolvers<void>();
    const events = index.events({ signal: stop.signal, onOpen: opened.resolve });
    const first = events.next();
    await opened.promise;
    const { asset_id } = await index.images.add({ image_file: await fixture("rotated.jpg") });
    await index.waitUntilReady(asset_id);
    const { value } = await first;
    expect(value).toMatchObject({ data: { asset_id } });
    const later = index.events({ lastEventId: value!.id, signal: stop.signal });
    const missed = await later.next();
    expect(missed.value!.id > value!.id).toBe(true);
    const following = collect(later);
    await events.return(undefined);
    stop.abort(new Error("enough"));
    await expect(following).rejects.toThrow("enough");
  });
});
