import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { workingCopyOf } from "../../src/derived-media.ts";
import type { AssetId } from "../../src/ids.ts";
import { convert, mergeParts, plannedParts, planConversion } from "../../src/ingest/conversion.ts";
import { readConvertedPart } from "../../src/media/container/mp4-part.ts";
import { probeMedia } from "../../src/media/container/open-container.ts";
import { openFile } from "../../src/media/container/r2-file.ts";
import { CONVERSION } from "../../src/parameters.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { recountBytes } from "../../src/store/d1/quotas.ts";
import { getConversionPlan } from "../../src/store/r2/conversion-plan.ts";
import {
  assetPrefix,
  conversionPrefix,
  convertedPartKey,
  listObjects,
  workingCopyKey,
} from "../../src/store/r2/object-keys.ts";
import type { Asset } from "../../src/types.ts";
import {
  createTarget,
  exportLines,
  hostBytes,
  hostFiles,
  importLines,
} from "../support/archive-helpers.ts";
import { type Client, type Json, fixture, newClient } from "../support/client.ts";

const SECONDS = 70;
/** Time of the voice: in the second piece. */
const VOICE_SECONDS = 60.5;
const FRAME_SECONDS = 0.1;
/** Time of the cut: FFmpeg writes the first frame of an AVI twice. */
const CUT_SECONDS = 30 + FRAME_SECONDS;

let client: Client;
let added: Json;
let asset: Asset;

const load = async () => (await getAsset(env.DB, added.asset_id as AssetId))!;
const keysUnder = async (prefix: string) => {
  return (await listObjects(env.MEDIA, prefix)).map(({ key }) => key.slice(prefix.length));
};

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "old" } });
  const form = { video_file: await fixture("old.avi") };
  added = await client.json("POST", "/index/old/video", { form });
  added = await client.waitForAsset("old", added);
  asset = await load();
});

describe("an AVI of MPEG-4, which the Worker can't read,", () => {
  it("becomes ready by a working copy, and keeps the facts of its file", () => {
    expect(added).toMatchObject({
      state: "ready",
      error: null,
      warnings: [],
      duration_seconds: expect.closeTo(SECONDS, 0),
      width: 320,
      height: 180,
      has_audio: true,
      technical: { container: "avi", has_video: true, video_codec: "mpeg4", audio_codec: "aac" },
      working_copy: {
        reason: "unreadable_container",
        container: "mp4",
        video_codec: "avc",
        audio_codec: "aac",
        width: 320,
        height: 180,
      },
    });
    expect(Math.abs(added.duration_seconds - SECONDS)).toBeLessThanOrEqual(FRAME_SECONDS);
    expect(added.technical).not.toHaveProperty("working_copy");
  });

  it("has its cut at the time of the original", async () => {
    const path = `/index/old/video/${added.asset_id}/segments`;
    const { segments } = await client.json("GET", path);
    const starts = segments.map((segment: Json) => segment.start_seconds);
    const isCut = (start: number) => Math.abs(start - CUT_SECONDS) < FRAME_SECONDS / 2;
    expect(starts.filter(isCut), String(starts)).toHaveLength(1);
    expect(segments[0].on_screen_text).toBe("HELLO");
  });

  it("is found by what is said, at the time of the original", async () => {
    const path = `/index/old/video/${added.asset_id}/transcript`;
    const { cues } = await client.json("GET", path);
    expect(cues.length).toBeGreaterThan(0);
    expect(cues[0].start).toBeGreaterThan(VOICE_SECONDS - 1);
    expect(cues[0].start).toBeLessThan(VOICE_SECONDS + 3);
  });

  it("is played as an MP4 with its index in front, and downloaded as it came", async () => {
    const played = await client.send("GET", new URL(added.media_url).pathname);
    expect(played.headers.get("content-type")).toBe("video/mp4");
    const copy = Buffer.from(await played.arrayBuffer());
    expect(copy.length).toBe(added.working_copy.bytes);
    expect(copy.indexOf("moov")).toBeLessThan(copy.indexOf("mdat"));
    const downloaded = await client.send("GET", new URL(added.original_url).pathname);
    const original = Buffer.from(await downloaded.arrayBuffer());
    expect(original.equals(Buffer.from(await (await fixture("old.avi")).arrayBuffer()))).toBe(true);
    const { segments } = await client.json("POST", "/index/old/search", {
      json: { query: "hello" },
    });
    expect(segments[0].clip_url).toContain(".avi");
    const clip = await client.send("GET", new URL(segments[0].clip_url).pathname);
    expect(clip.headers.get("content-type")).toBe("video/mp4");
    await clip.body?.cancel();
  });

  it("has a copy of every frame and of all its sound, without a gap between parts", async () => {
    const info = await probeMedia(env.MEDIA, workingCopyKey(asset));
    expect(info).toMatchObject({ video: { codec: "avc" }, audioCodec: "aac", missing: null });
    expect(info.durationSeconds).toBeCloseTo(asset.durationMs / 1000, 3);
    expect(info.video?.fps).toBeCloseTo(10, 0);
  });

  it("leaves no parts behind, and its copy is charged to the account", async () => {
    expect(await keysUnder(conversionPrefix(asset))).toEqual([]);
    const bytes = () =>
      env.DB.prepare("SELECT bytes FROM object_bytes WHERE owner = ?")
        .bind(asset.assetId)
        .first<number>("bytes");
    expect(await bytes()).toBeGreaterThan(added.working_copy.bytes);
    const before = await bytes();
    await recountBytes(env, asset);
    expect(await bytes()).toBe(before);
  });

  it("is counted once, in minutes and in seconds that were converted", async () => {
    const { today: day } = (await client.json("GET", "/stats")).usage;
    expect(day.ingested_seconds).toBeCloseTo(asset.durationMs / 1000, 3);
    expect(day.operations.converted_seconds).toBeCloseTo(asset.durationMs / 1000, 3);
    expect(day.costs_usd.conversion).toBeGreaterThan(0);
  });
});

describe("a conversion", () => {
  it("may run each of its steps twice, and ends with the same copy", async () => {
    const copy = await (await env.MEDIA.get(workingCopyKey(asset)))!.bytes();
    await env.MEDIA.delete(workingCopyKey(asset));
    const { convert: count = 0 } = await planConversion(env, asset);
    expect(count).toBe(2);
    for (const part of [1, 0, 1]) await convert(env, asset, part);
    await mergeParts(env, await load());
    const again = await (await env.MEDIA.get(workingCopyKey(asset)))!.bytes();
    expect(Buffer.from(again).equals(Buffer.from(copy))).toBe(true);
    expect(workingCopyOf(await load())).toEqual(workingCopyOf(asset));
    expect(await planConversion(env, await load())).toEqual({ convert: 0, merge_parts: 0 });
  });

  it("is made again if the copy is lost", async () => {
    await env.MEDIA.delete(workingCopyKey(asset));
    const { job_id } = await client.json("POST", "/index/old/traverse");
    const { result } = await client.waitForJob(job_id);
    expect(result).toMatchObject({ repaired: { working_copy_missing: 1 }, unrepaired: [] });
    expect(await keysUnder(assetPrefix(asset))).toContain("working-copy");
  });
});

describe("a decoder", () => {
  const decoderAt = (behaviour: string) => ({
    ...env,
    DECODER_URL: `${inject("malformedOrigin")}/${behaviour}`,
  });

  beforeAll(async () => {
    await env.MEDIA.delete(workingCopyKey(asset));
    await planConversion(env, asset);
  });

  it("that a deployment hasn't got is named by the error", async () => {
    await expect(planConversion({ ...env, DECODER_URL: "" }, asset)).rejects.toMatchObject({
      code: "unreadable_container",
      message: expect.stringMatching(/Convert it to MP4.+add a decoder/),
    });
  });

  it("that is away is tried again, at each step", async () => {
    const away = { ...env, DECODER_URL: "http://127.0.0.1:1" };
    const error = { code: "upstream_unavailable" };
    await expect(planConversion(away, asset)).rejects.toMatchObject(error);
    await expect(convert(away, asset, 0)).rejects.toMatchObject(error);
  });

  it.each([
    ["returns a JPEG", "bytes", "upstream_failed"],
    ["never stops", "endless", "upstream_failed"],
    ["breaks off", "cut-length", "upstream_unavailable"],
    ["speaks another protocol", "no-http", "upstream_unavailable"],
    ["sends a part of a file", "part", "upstream_unavailable"],
  ])("that %s is tried again", async (_, behaviour, code) => {
    await expect(convert(decoderAt(behaviour), asset, 0)).rejects.toMatchObject({ code });
  });

  it("whose piece is another than was asked for is refused", async () => {
    await convert(env, asset, 0);
    const plan = (await getConversionPlan(env.MEDIA, asset))!;
    const file = await openFile(env.MEDIA, convertedPartKey(asset, 0));
    const piece = plannedParts(plan)[0]!;
    expect((await readConvertedPart(file, piece)).video!.sizes.length).toBeGreaterThan(300);
    const others = [
      { ...piece, endMs: CONVERSION.partMs - 5000 },
      { ...piece, frameFormat: { ...piece.frameFormat!, width: 640 } },
      { ...piece, frameFormat: null },
      { ...piece, audio: false },
    ];
    for (const other of others) {
      await expect(readConvertedPart(file, other)).rejects.toMatchObject({
        code: "upstream_failed",
      });
    }
    const bytes = await (await env.MEDIA.get(convertedPartKey(asset, 0)))!.bytes();
    await env.MEDIA.put(convertedPartKey(asset, 0), bytes.subarray(0, bytes.length / 2));
    const half = await openFile(env.MEDIA, convertedPartKey(asset, 0));
    await expect(readConvertedPart(half, piece)).rejects.toMatchObject({ code: "upstream_failed" });
  });

  it("replaces a stored piece that is cut off", async () => {
    await convert(env, asset, 0);
    const plan = (await getConversionPlan(env.MEDIA, asset))!;
    await readConvertedPart(
      await openFile(env.MEDIA, convertedPartKey(asset, 0)),
      plannedParts(plan)[0]!,
    );
  });
});

it("a video in an MP4 whose codec can't be read is converted, too", async () => {
  const form = { video_file: await fixture("mpeg4.mp4") };
  const video = await client.json("POST", "/index/old/video", { form });
  expect(await client.waitForAsset("old", video)).toMatchObject({
    state: "ready",
    has_audio: false,
    working_copy: { reason: "unsupported_codec", audio_codec: null },
  });
});

it.each(["mpeg4.mp4", "speech.wma"])(
  "an archive carries the working copy of %s, which is checked and played after an import",
  async (name) => {
    const source = await newClient();
    await source.json("POST", "/index", { json: { index_name: "from" } });
    const form = { video_file: await fixture(name) };
    const video = await source.json("POST", "/index/from/video", { form });
    const { working_copy: copy, technical } = await source.waitForAsset("from", video);
    const lines = await Promise.all((await exportLines(source, "?media=true")).map(hostFiles));
    const target = await createTarget();
    const { result } = await importLines(target, lines);
    expect(result).toMatchObject({ imported: 1, failed: [] });
    const { assets } = await target.json("GET", "/index/to");
    const { waveform: _, ...facts } = technical;
    expect(assets).toMatchObject([{ state: "ready", working_copy: copy, technical: facts }]);
    const played = await target.send("GET", new URL(assets[0].media_url).pathname);
    expect((await played.arrayBuffer()).byteLength).toBe(copy.bytes);
    const asset = lines.find(({ kind }) => kind === "asset")!;
    const file = asset.files.find(({ path }: Json) => path === "working-copy");
    file.url = await hostBytes("not an MP4");
    const other = await createTarget();
    expect(await importLines(other, lines)).toMatchObject({ result: { imported: 0 } });
  },
);

it("a deleted video leaves neither copy nor parts", async () => {
  await client.json("DELETE", `/index/old/video/${added.asset_id}`);
  await expect.poll(() => keysUnder(assetPrefix(asset))).toEqual([]);
});
