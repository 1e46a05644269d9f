import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { AssetId } from "../../src/ids.ts";
import {
  makePlaybackCopy,
  requestPlaybackCopy,
  startPlaybackCopyIfNeeded,
} from "../../src/ingest/conversion.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { getUnfinishedJob } from "../../src/store/d1/jobs.ts";
import { workingCopyKey } from "../../src/store/r2/object-keys.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";

const INDEX = "/index/films";

let client: Client;
/** H.264 in Matroska, which is read as it is, and which most browsers don't play. */
let recording: Json;

const load = async ({ asset_id: id }: Json) => (await getAsset(env.DB, id as AssetId))!;

async function add(name: string): Promise<Json> {
  const form = { video_file: await fixture(name) };
  return client.waitForAsset("films", await client.json("POST", `${INDEX}/video`, { form }));
}

const askFor = ({ asset_id: id }: Json) =>
  client.send("POST", `${INDEX}/video/${id}/playback_copy`);

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "films" } });
  recording = await add("film.mkv");
});

describe("a video that browsers don't play", () => {
  it("is ready without a copy", () => {
    expect(recording).toMatchObject({ state: "ready", working_copy: null, original_url: null });
  });

  it("has one automatically if that is set, by one job", async () => {
    const asset = await load(recording);
    const automatic = { ...env, PLAYBACK_COPIES: "automatic" } as Env;
    await startPlaybackCopyIfNeeded({ ...automatic, DECODER_URL: "" }, asset);
    await startPlaybackCopyIfNeeded(env, asset); // on request
    expect(await getUnfinishedJob(env.DB, asset.assetId, "playback_copy")).toBeNull();
    const jobs = { ...automatic, JOBS: { send: async () => undefined } } as unknown as Env;
    await startPlaybackCopyIfNeeded(jobs, asset);
    const job = await getUnfinishedJob(env.DB, asset.assetId, "playback_copy");
    expect(job).not.toBeNull();
    await startPlaybackCopyIfNeeded(jobs, asset);
    const { jobs: listed } = await client.json("GET", "/jobs");
    const own = listed.filter(({ kind }: Json) => kind === "playback_copy");
    expect(own).toMatchObject([{ job_id: job, state: "queued", asset_id: asset.assetId }]);
    await client.json("DELETE", `/jobs/${job}`);
  });

  it("is played as a copy after a request, at the same times", async () => {
    const before = await client.json("GET", `${INDEX}/video/${recording.asset_id}/segments`);
    const { job_id } = await (await askFor(recording)).json<Json>();
    const { state, result } = await client.waitForJob(job_id);
    expect(state).toBe("succeeded");
    const after = await client.json("GET", `${INDEX}/video/${recording.asset_id}`);
    expect(after).toMatchObject({
      duration_seconds: recording.duration_seconds,
      working_copy: { reason: "not_playable", container: "mp4", video_codec: "avc" },
      technical: { container: recording.technical.container },
    });
    expect(result).toEqual({ asset_id: recording.asset_id, working_copy: after.working_copy });
    const played = await client.send("GET", new URL(after.media_url).pathname);
    expect(played.headers.get("content-type")).toBe("video/mp4");
    expect((await played.arrayBuffer()).byteLength).toBe(after.working_copy.bytes);
    const original = await client.send("GET", new URL(after.original_url).pathname);
    const file = await (await fixture("film.mkv")).arrayBuffer();
    expect((await original.arrayBuffer()).byteLength).toBe(file.byteLength);
    const { segments } = await client.json("GET", `${INDEX}/video/${recording.asset_id}/segments`);
    const times = (list: Json[]) => list.map(({ start_seconds: start }) => start);
    expect(times(segments)).toEqual(times(before.segments));
  });

  it("that has a copy is refused another, and is healthy", async () => {
    expect((await askFor(recording)).status).toBe(409);
    const { nodes } = await client.json("GET", `${INDEX}/traverse`);
    expect(nodes[0].health).toEqual({ ok: true, findings: [] });
  });
});

it("a lost copy is made again by a repair", async () => {
  await env.MEDIA.delete(workingCopyKey(await load(recording)));
  const { job_id } = await client.json("POST", `${INDEX}/traverse`);
  const { result } = await client.waitForJob(job_id);
  expect(result).toMatchObject({ repaired: { working_copy_missing: 1 }, unrepaired: [] });
  expect(await env.MEDIA.head(workingCopyKey(await load(recording)))).not.toBeNull();
});

describe("a job that makes a copy", () => {
  it("goes on where it was cut off, and may run twice", async () => {
    const asset = await load(await add("vp9.mp4"));
    const interrupt = () => Promise.reject(new Error("The Worker ends"));
    await expect(makePlaybackCopy(env, asset, interrupt)).rejects.toThrow("The Worker ends");
    const made = await makePlaybackCopy(env, asset, async () => undefined);
    expect(made.working_copy).toMatchObject({ reason: "not_playable" });
    expect(await makePlaybackCopy(env, asset, async () => undefined)).toEqual(made);
  });

  it("fails in words if the decoder reads other times than the service", async () => {
    const asset = await load(await add("clip.mp4"));
    const other = { ...asset, durationMs: asset.durationMs + 5000 };
    const { DB } = env;
    await DB.prepare("UPDATE assets SET duration_ms = ? WHERE asset_id = ?")
      .bind(other.durationMs, asset.assetId)
      .run();
    await expect(makePlaybackCopy(env, asset, async () => undefined)).rejects.toMatchObject({
      code: "unreadable_container",
      message: expect.stringContaining("other times"),
    });
  });

  it("fails if the video is deleted", async () => {
    const asset = await load(await add("mpeg4.mp4"));
    await client.json("DELETE", `${INDEX}/video/${asset.assetId}`);
    await expect(
      makePlaybackCopy(
        env,
        { assetId: "vid_00000000000000000000000000" as AssetId },
        async () => undefined,
      ),
    ).rejects.toMatchObject({ code: "not_found" });
  });
});

it("a copy can't be asked for without a decoder", async () => {
  const asset = await load(recording);
  await expect(requestPlaybackCopy({ ...env, DECODER_URL: "" }, asset)).rejects.toMatchObject({
    code: "decoder_not_configured",
  });
});
