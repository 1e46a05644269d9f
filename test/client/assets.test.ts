import { beforeAll, describe, expect, it } from "vitest";
import {
  type Asset,
  IngestFailedError,
  JobFailedError,
  type Sightline,
} from "../../client/src/index.ts";
import { fixture, fixtureUrl } from "../support/client.ts";
import { newSightline, recordingFetch, refuse } from "./service.ts";

const SRT = "1\n00:00:00,000 --> 00:00:03,000\nWelcome to the lighthouse.\n";

let sightline: Sightline;

beforeAll(async () => {
  sightline = await newSightline();
  await sightline.indices.create({ index_name: "trip", metadata: { year: 2026 } });
});

describe("an asset added by the client", () => {
  it("is ready after the wait, which reports its progress", async () => {
    const index = sightline.index("trip");
    const uploaded: [number, number][] = [];
    const video_file = await fixture("clip.mp4");
    const added = await index.videos.add(
      { video_file, transcript: SRT, metadata: { camera: "A" } },
      { onProgress: (sent, total) => uploaded.push([sent, total]) },
    );
    expect(added).toMatchObject({ state: "queued", duplicate: false, title: "clip.mp4" });
    expect(uploaded).toEqual([
      [0, video_file.size],
      [video_file.size, video_file.size],
    ]);
    const progress: Asset[] = [];
    const [asset] = await index.waitUntilReady(added.asset_id, {
      onProgress: (record) => progress.push(record),
    });
    expect(asset).toMatchObject({ state: "ready", metadata: { camera: "A" }, segments: 2 });
    expect(progress.at(-1)).toEqual(asset);
    expect(progress.map((record) => record.progress)).toEqual(
      progress.map((record) => record.progress).sort((a, b) => a - b),
    );
    const transcript = await index.videos.transcript(added.asset_id);
    expect(transcript.cues[0]!.text).toBe("Welcome to the lighthouse.");
    expect(await index.videos.transcriptText(added.asset_id, "vtt")).toMatch(/^WEBVTT/);
    expect(await index.videos.editList(added.asset_id)).toContain("TITLE: clip.mp4");
    const segments = await index.videos.segments(added.asset_id);
    expect(segments.items).toHaveLength(2);
    const { technical } = await index.videos.metadata(added.asset_id);
    expect(technical).toMatchObject({ width: 320, height: 180 });
  });

  it("is ready after the wait where events can't be followed", async () => {
    const { fetch, sent } = recordingFetch((url, init) =>
      url.endsWith("/events") ? refuse(503)(url, init) : undefined,
    );
    const polling = await newSightline({ fetch });
    await polling.indices.create({ index_name: "polled" });
    const index = polling.index("polled");
    const { asset_id } = await index.images.add({ image_url: fixtureUrl("words.jpg") });
    const [asset] = await index.waitUntilReady([asset_id]);
    expect(asset).toMatchObject({ state: "ready", source: { kind: "url" } });
    expect(sent.some(({ path }) => path.endsWith("/events"))).toBe(true);
  });

  it("fails the wait with its record if its ingest fails", async () => {
    const index = sightline.index("trip");
    const added = await index.videos.add({ video_file: await fixture("truncated.mp4") });
    const error = await index.waitUntilReady(added.asset_id).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(IngestFailedError);
    expect(error).toMatchObject({
      code: "unreadable_container",
      asset: { asset_id: added.asset_id, state: "failed" },
      message: expect.stringContaining("truncated.mp4: ") as string,
    });
  });

  it("can be changed and deleted", async () => {
    const index = sightline.index("trip");
    const { asset_id } = await index.images.add({ image_file: await fixture("boats.jpg") });
    await index.waitUntilReady(asset_id);
    const changed = await index.images.update(asset_id, { title: "Boats", metadata: { a: 1 } });
    expect(changed).toMatchObject({ title: "Boats", metadata: { a: 1 } });
    const { job_id } = await index.images.delete(asset_id);
    expect(await sightline.jobs.wait(job_id)).toMatchObject({ state: "succeeded" });
    await expect(index.images.get(asset_id)).rejects.toThrow(asset_id);
  });
});

describe("a wait of the client", () => {
  it("ends with the reason of its signal", async () => {
    const index = sightline.index("trip");
    const { asset_id } = await index.images.add({ image_file: await fixture("rotated.jpg") });
    const stop = new AbortController();
    const waiting = index.waitUntilReady(asset_id, {
      signal: stop.signal,
      onProgress: () => stop.abort(new Error("enough")),
    });
    await expect(waiting).rejects.toThrow("enough");
    await index.waitUntilReady(asset_id);
  });

  it("ends with a TimeoutError after its time limit", async () => {
    const { fetch } = recordingFetch((url, init) =>
      url.endsWith("/events") ? refuse(503)(url, init) : undefined,
    );
    const polling = await newSightline({ fetch });
    await polling.indices.create({ index_name: "slow" });
    const index = polling.index("slow");
    const { asset_id } = await index.images.add({ image_file: await fixture("clock.jpg") });
    const waiting = index.waitUntilReady(asset_id, { timeoutMs: 1 });
    await expect(waiting).rejects.toMatchObject({ name: "TimeoutError" });
    await index.waitUntilReady(asset_id);
  });

  it("closes the event stream when it fails", async () => {
    let stream: AbortSignal | null | undefined;
    const { fetch } = recordingFetch((url, { signal }) => {
      if (url.endsWith("/events")) stream = signal;
      return undefined;
    });
    const following = await newSightline({ fetch });
    await following.indices.create({ index_name: "broken" });
    const index = following.index("broken");
    const { asset_id } = await index.videos.add({ video_file: await fixture("truncated.mp4") });
    await expect(index.waitUntilReady(asset_id)).rejects.toThrow(IngestFailedError);
    await expect(index.waitUntilReady(asset_id)).rejects.toThrow(IngestFailedError);
    expect(stream?.aborted).toBe(true);
  });

  it("fails with the record of a job that failed", async () => {
    const { job_id } = await sightline.index("trip").imports.video({
      url: fixtureUrl("missing.mp4"),
      platform: "web",
    });
    const error = await sightline.jobs.wait(job_id).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(JobFailedError);
    expect(error).toMatchObject({ job: { job_id, state: "failed" } });
  });
});
