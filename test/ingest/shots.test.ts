import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import { newId } from "../../src/ids.ts";
import { openSampledFrames } from "../../src/ingest/windows.ts";
import {
  type Container,
  openContainer,
  requireVideoTrack,
} from "../../src/media/container/open-container.ts";
import { getContactSheetSizing } from "../../src/media/frames.ts";
import { type SampledFrame, extractFrames } from "../../src/media/shots/contact-sheet.ts";
import { detectShots } from "../../src/media/shots/detect-shots.ts";
import { SHOTS, SIGNATURE } from "../../src/parameters.ts";
import { getWindowAnalysis, putWindowAnalysis } from "../../src/store/r2/window-analysis.ts";
import type { Asset } from "../../src/types.ts";
import { fixture } from "../support/client.ts";

/** Ten minutes at 10 frames a second: shots of a page of text and of a house in turn. */
const VIDEO = "long.mp4";
const SHOT_SECONDS = 3;
const FRAME_SECONDS = 0.1;

const frames = localMedia(env);
const bindings = { ...env, FRAMES: frames, IMAGES: localImages(env) };
let input: Container;

function openTrack() {
  return requireVideoTrack(input);
}

beforeAll(async () => {
  await env.MEDIA.put(VIDEO, await (await fixture(VIDEO)).arrayBuffer());
  input = await openContainer(env.MEDIA, VIDEO, { start: 0, end: Infinity });
});

afterAll(() => input[Symbol.dispose]());

/** Tests for each frame whether it is more similar to the first than to the last. */
function areSimilarToFirst(sampled: SampledFrame[]): boolean[] {
  const [first, last] = [sampled[0]!.luma, sampled.at(-1)!.luma];
  const distance = (a: Uint8Array, b: Uint8Array) =>
    a.reduce((sum, value, i) => sum + Math.abs(value - b[i]!), 0);
  return sampled.map(({ luma }) => distance(luma, first) < distance(luma, last));
}

describe("extracting frames from all over a video", () => {
  it("returns the frames with these presentation times", async () => {
    const times = [0, 1.5, 2.9, 3, 3.1, 5.9, 6, 100, 104, 301.2, 599.9, 600, 604];
    const extracted = await extractFrames(bindings, openTrack(), times);
    expect(extracted.map(({ seconds }) => Math.round(seconds * 10) / 10)).toEqual(times);
    const isText = times.map((time) => Math.floor(time / SHOT_SECONDS) % 2 === 0);
    expect(areSimilarToFirst(extracted)).toEqual(isText);
  });

  it.each([[[7]], [[0, 0.1]]])("returns one or two frames: at %j s", async (times) => {
    expect(await extractFrames(bindings, openTrack(), times)).toHaveLength(times.length);
  });

  it.each([
    ["9412", "unreadable_frame"],
    ["malformed", "unreadable_frame"],
    ["9504", "upstream_timeout"],
    ["9522", "upstream_unavailable"],
  ] as const)("after the fault %s throws %s", async (fault, code) => {
    await frames.inject(fault);
    await expect(extractFrames(bindings, openTrack(), [1, 2])).rejects.toMatchObject({
      code,
    });
  });
});

describe("detecting the shots of a window", () => {
  it.each([
    [0, "sheet"],
    [SHOTS.windowSeconds, "sheet"],
    [0, "tile"],
    [SHOTS.windowSeconds, "tile"],
    [0, "sheet"],
  ])("finds the cuts to the frame: from %i s, by the size of a %s", async (start, sizeOf) => {
    const end = start + SHOTS.windowSeconds;
    const sized = { ...bindings, FRAMES: localMedia({ ...env, SHEET_SIZE_OF: sizeOf }) };
    await extractFrames(sized, openTrack(), [0, 1]);
    expect(getContactSheetSizing()).toBe(sizeOf);
    const analysis = await detectShots(sized, openTrack(), { start, end });
    expect(analysis.frames).toHaveLength(2 * SHOTS.windowSeconds);
    expect(analysis.operations).toBeLessThanOrEqual(1 + SHOTS.refinementRounds);
    const starts = analysis.transitions.map(({ kind, to }) => [kind, Math.round(to * 10) / 10]);
    const first = Math.floor(start / SHOT_SECONDS) + 1;
    const count = Math.floor((end + 0.1) / SHOT_SECONDS) - first + 1;
    expect(starts).toEqual(
      Array.from({ length: count }, (_, i) => ["cut", (first + i) * SHOT_SECONDS]),
    );
  });

  it("finds the same cuts, in more operations, if FRAMES makes sheets of 25 images", async () => {
    const range = { start: 0, end: SHOTS.windowSeconds };
    const whole = await detectShots(bindings, openTrack(), range);
    const capped = { ...bindings, FRAMES: localMedia({ ...env, MAX_IMAGE_COUNT: "25" }) };
    const halved = await detectShots(capped, openTrack(), range);
    const seconds = ({ frames }: typeof whole) => frames.map((frame) => frame.seconds);
    const cuts = ({ transitions }: typeof whole) => transitions.map(({ to }) => to);
    expect(cuts(whole).length).toBeGreaterThan(5);
    expect(halved.frames).toHaveLength(whole.frames.length);
    for (const list of [seconds, cuts]) {
      const differences = list(whole).map((at, i) => Math.abs(at - list(halved)[i]!));
      expect(Math.max(...differences)).toBeLessThanOrEqual(FRAME_SECONDS);
    }
    expect(cuts(halved)).toHaveLength(cuts(whole).length);
    expect(halved.operations).toBeGreaterThanOrEqual(3 + whole.operations);
  });

  it("skips refinement if its frames can't be decoded, but fails in an outage", async () => {
    await frames.inject("slow:1");
    await frames.inject("9412");
    const range = { start: 0, end: 10 };
    const analysis = await detectShots(bindings, openTrack(), range);
    expect(analysis.frames).toHaveLength(20);
    expect(analysis.transitions.every(({ to }) => to <= 10)).toBe(true);
    await frames.inject("slow:1");
    await frames.inject("9504");
    await expect(detectShots(bindings, openTrack(), range)).rejects.toMatchObject({
      code: "upstream_timeout",
    });
  });

  it("fails if the first contact sheet can't be decoded", async () => {
    await frames.inject("9504");
    const range = { start: 0, end: 10 };
    await expect(detectShots(bindings, openTrack(), range)).rejects.toMatchObject({
      code: "upstream_timeout",
    });
  });
});

describe("the luma of sampled frames", () => {
  const asset = { accountId: "acc_1", indexId: "ind_1", assetId: "vid_1" } as Asset;
  /** Times by window. The first frame of the second window was on screen before it. */
  const times = [[0, 46], [46.96, 47.5, 93.5], [94]];

  beforeAll(async () => {
    for (const [part, windowTimes] of times.entries()) {
      await putWindowAnalysis(env.MEDIA, asset, part, {
        frames: windowTimes.map((seconds) => ({ seconds, sharpness: 1, lumaThumbnail: "" })),
        transitions: [],
        operations: 1,
        lumas: windowTimes.map((seconds) => new Uint8Array(SIGNATURE.side ** 2).fill(seconds)),
      });
    }
  });

  it("is read from the windows that the frames belong to", async () => {
    const analyses = times.map((_, part) => getWindowAnalysis(env.MEDIA, asset, part));
    const windows = (await Promise.all(analyses)).map((analysis) => analysis!);
    const sampled = openSampledFrames(env.MEDIA, asset, windows);
    const inRange = sampled.framesIn({ startMs: 46_000, endMs: 94_000 });
    expect(inRange.map(({ seconds }) => seconds)).toEqual([46, 46.96, 47.5, 93.5]);
    const all = sampled.framesIn({ startMs: 0, endMs: 100_000 });
    const luma = await sampled.readLuma(all.toReversed());
    expect(luma.map(([value]) => value)).toEqual([94, 93, 47, 46, 46, 0]);
    expect(luma.every(({ length }) => length === SIGNATURE.side ** 2)).toBe(true);
  });

  it("is left out if it isn't stored", async () => {
    const frame = { seconds: 1, sharpness: 1, lumaThumbnail: "" };
    const other = { ...asset, assetId: newId("vid") };
    const window = { frames: [frame], transitions: [], operations: 1 };
    const sampled = openSampledFrames(env.MEDIA, other, [window]);
    expect(await sampled.readLuma([frame])).toEqual([]);
  });
});
