import { env } from "cloudflare:workers";
import type { Input } from "mediabunny";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../local/local-images.ts";
import { localMedia } from "../local/local-media.ts";
import { SHOTS, SIGNATURE } from "../src/config.ts";
import { newId } from "../src/ids.ts";
import { openSeen } from "../src/ingest/seen-stills.ts";
import { openContainer, requireVideoTrack } from "../src/media/container.ts";
import { lookThrough } from "../src/media/shots.ts";
import { type Still, takePictures } from "../src/media/sheets.ts";
import { getSeen, putSeen } from "../src/store/seen.ts";
import type { Asset } from "../src/types.ts";
import { fixture } from "./client.ts";

/** Ten minutes at 10 frames a second: three seconds of words, three of a house, and so on. */
const FILM = "long.mp4";
const SHOT = 3;

const frames = localMedia(env);
const bindings = { ...env, FRAMES: frames, IMAGES: localImages(env) };
let film: Input;

async function trackOf() {
  return requireVideoTrack(film);
}

beforeAll(async () => {
  await env.MEDIA.put(FILM, await (await fixture(FILM)).arrayBuffer());
  film = await openContainer(env.MEDIA, FILM, { from: 0, to: Infinity });
});

afterAll(() => film.dispose());

/** Whether a still is more like the first of all than like the last. */
function areLikeFirst(stills: Still[]): boolean[] {
  const [first, last] = [stills[0]!.grey, stills.at(-1)!.grey];
  const apart = (a: Uint8Array, b: Uint8Array) =>
    a.reduce((sum, value, i) => sum + Math.abs(value - b[i]!), 0);
  return stills.map(({ grey }) => apart(grey, first) < apart(grey, last));
}

describe("pictures from all over a video", () => {
  it("are those that are shown at their times", async () => {
    const times = [0, 1.5, 2.9, 3, 3.1, 5.9, 6, 100, 104, 301.2, 599.9, 600, 604];
    const stills = await takePictures(bindings, await trackOf(), times);
    expect(stills.map(({ seconds }) => Math.round(seconds * 10) / 10)).toEqual(times);
    const isWords = times.map((time) => Math.floor(time / SHOT) % 2 === 0);
    expect(areLikeFirst(stills)).toEqual(isWords);
  });

  it.each([[[7]], [[0, 0.1]]])("may be few: at %j s", async (times) => {
    expect(await takePictures(bindings, await trackOf(), times)).toHaveLength(times.length);
  });

  it.each([
    ["9412", "unreadable_frame"],
    ["malformed", "unreadable_frame"],
    ["9504", "upstream_unavailable"],
  ] as const)("that can't be decoded have a code: %s", async (fault, code) => {
    await frames.inject(fault);
    await expect(takePictures(bindings, await trackOf(), [1, 2])).rejects.toMatchObject({ code });
  });
});

describe("looking through a stretch", () => {
  it.each([0, SHOTS.partSeconds])("finds its shots to the frame: from %i s", async (from) => {
    const to = from + SHOTS.partSeconds;
    const { stills, transitions, operations } = await lookThrough(bindings, await trackOf(), {
      from,
      to,
    });
    expect(stills).toHaveLength(2 * SHOTS.partSeconds);
    expect(operations).toBeLessThanOrEqual(1 + SHOTS.rounds);
    const begins = transitions.map(({ kind, to: begin }) => [kind, Math.round(begin * 10) / 10]);
    const first = Math.floor(from / SHOT) + 1;
    const count = Math.floor((to + 0.1) / SHOT) - first + 1;
    expect(begins).toEqual(Array.from({ length: count }, (_, i) => ["cut", (first + i) * SHOT]));
  });

  it("does without a closer look at what can't be decoded", async () => {
    await frames.inject("slow:1");
    await frames.inject("9412");
    const region = { from: 0, to: 10 };
    const { stills, transitions } = await lookThrough(bindings, await trackOf(), region);
    expect(stills).toHaveLength(20);
    expect(transitions.every(({ to }) => to <= 10)).toBe(true);
    await frames.inject("slow:1");
    await frames.inject("9504");
    await expect(lookThrough(bindings, await trackOf(), region)).rejects.toMatchObject({
      code: "upstream_unavailable",
    });
  });

  it("fails with a code where the first look does", async () => {
    await frames.inject("9504");
    const region = { from: 0, to: 10 };
    await expect(lookThrough(bindings, await trackOf(), region)).rejects.toMatchObject({
      code: "upstream_unavailable",
    });
  });
});

describe("the stills that were seen", () => {
  const asset = { accountId: "acc_1", indexId: "ind_1", assetId: "vid_1" } as Asset;
  /** Of three stretches; the first still of the second began to be shown in the one before. */
  const times = [[0, 46], [46.96, 47.5, 93.5], [94]];

  beforeAll(async () => {
    for (const [part, seconds] of times.entries()) {
      const stills = seconds.map((at) => ({ seconds: at, sharpness: 1, thumbnail: "" }));
      const greys = seconds.map((at) => new Uint8Array(SIGNATURE.side ** 2).fill(at));
      await putSeen(env.MEDIA, asset, part, { stills, transitions: [], operations: 1, greys });
    }
  });

  it("have their pixels, whichever stretch they are of", async () => {
    const parts = times.map((_, part) => getSeen(env.MEDIA, asset, part));
    const seen = openSeen(
      env.MEDIA,
      asset,
      (await Promise.all(parts)).map((part) => part!),
    );
    const stills = seen.within({ startMs: 46_000, endMs: 94_000 });
    expect(stills.map(({ seconds }) => seconds)).toEqual([46, 46.96, 47.5, 93.5]);
    const all = seen.within({ startMs: 0, endMs: 100_000 });
    const greys = await seen.greysOf(all.toReversed());
    expect(greys.map(([level]) => level)).toEqual([94, 93, 47, 46, 46, 0]);
    expect(greys.every(({ length }) => length === SIGNATURE.side ** 2)).toBe(true);
  });

  it("have none where nothing was kept", async () => {
    const still = { seconds: 1, sharpness: 1, thumbnail: "" };
    const other = { ...asset, assetId: newId("vid") };
    const stretch = { stills: [still], transitions: [], operations: 1 };
    expect(await openSeen(env.MEDIA, other, [stretch]).greysOf([still])).toEqual([]);
  });
});
