import { describe, expect, it } from "vitest";
import * as edl from "../../../src/exports/edl.ts";
import type { Asset } from "../../../src/types.ts";
import { cutOf, listOf } from "../../support/cut-lists.ts";

interface Event {
  sourceId: string;
  clip: string;
  fps: number | null;
  startTimecode: string | null;
  hasVideo: boolean;
  hasAudio: boolean;
  startMs: number;
  endMs: number;
}

/** Formats parts of files one after the other. */
function formatEdl(title: string, events: Event[], fps?: number): string {
  const moments = events.map((event) => {
    const { sourceId, clip, startTimecode, hasVideo, startMs, endMs, ...facts } = event;
    const technical = {
      ...(startTimecode !== null && { start_timecode: startTimecode }),
      ...(!hasVideo && { has_video: false }),
    };
    const asset = { assetId: sourceId as Asset["assetId"], title: clip, technical, ...facts };
    return cutOf(asset, startMs, endMs);
  });
  return edl.formatEdl(listOf(moments, { title, fps }, true));
}

const SOURCE = { sourceId: "vid_1", startTimecode: null, hasVideo: true };
const event = (startMs: number, endMs: number) => ({ clip: "film.mp4", startMs, endMs });
const edlLines = (events: ReturnType<typeof event>[], fps: number | null, hasAudio = true) => {
  const withSource = events.map((one) => ({ ...SOURCE, ...one, fps, hasAudio }));
  return formatEdl("Film", withSource).split("\r\n");
};

describe("an edit decision list", () => {
  it("has its events one after the other, from one hour on", () => {
    expect(edlLines([event(2000, 5000), event(60_040, 61_000)], 25)).toEqual([
      "TITLE: Film",
      "FCM: NON-DROP FRAME",
      "",
      "001  AX       B     C        00:00:02:00 00:00:05:00 01:00:00:00 01:00:03:00",
      "* FROM CLIP NAME: film.mp4",
      "002  AX       B     C        00:01:00:01 00:01:01:00 01:00:03:00 01:00:03:24",
      "* FROM CLIP NAME: film.mp4",
      "",
    ]);
  });

  it.each([
    [0, "00:00:00;00"],
    [59_993, "00:00:59;28"], // frame 1798
    [60_060, "00:01:00;02"], // frame 1800: ;00 and ;01 are left out
    [600_600, "00:10:00;18"], // frame 18000 …
    [599_999.4, "00:10:00;00"], // … and frame 17982: every tenth minute has all
    [3_599_996.4, "01:00:00;00"],
  ])("at 29.97 fps drops frame numbers: %d ms is %s", (ms, timecode) => {
    const [, mode, , line] = edlLines([event(ms, ms + 1000)], 29.97);
    expect(mode).toBe("FCM: DROP FRAME");
    expect(line!.split(/ +/)[4]).toBe(timecode);
    expect(line!.split(/ +/)[6]).toBe("01:00:00;00");
  });

  it.each([
    [23.976, 10_010, "00:00:10:00"],
    [24, 10_000, "00:00:10:00"],
    [50, 10_020, "00:00:10:01"],
    [59.94, 60_060, "00:01:00;04"],
    [null, 40, "00:00:00:01"],
  ])("at %d fps has the timecode of the frame: %d ms is %s", (fps, ms, timecode) => {
    expect(edlLines([event(ms, ms + 1000)], fps)[3]!.split(/ +/)[4]).toBe(timecode);
  });

  it.each([
    [240, 900, 2900, "00:00:00:54 00:00:02:54", "240, COUNTED IN 60"],
    [119.88, 0, 1001, "00:00:00;00 00:00:01;00", "119.88, COUNTED IN 59.94"],
    [127, 0, 1000, "00:00:00:00 00:00:01:00", "127, COUNTED IN 25"],
    [15.5, 5000, 12_000, "00:00:05:00 00:00:12:00", "15.5, COUNTED IN 16"],
  ])("at %d fps counts in another rate, and says so", (fps, start, end, times, rate) => {
    const lines = edlLines([event(start, end)], fps);
    expect(lines[3]).toContain(times);
    expect(lines[5]).toBe(`* SOURCE FRAME RATE: ${rate}`);
  });

  it.each([
    [25, "10:00:00:00", "10:00:00:00 10:00:04:00"],
    [29.97, "10:00:00;00", "10:00:00;00 10:00:04;00"],
    [29.97, "10:00:00:00", "10:00:00:00 10:00:04:00"],
    [23.976, "01:02:03:04", "01:02:03:04 01:02:07:04"],
  ])("at %d fps begins with the timecode of its source: %s", (fps, startTimecode, times) => {
    const one = { ...SOURCE, ...event(0, 4004), fps, startTimecode, hasAudio: true };
    expect(formatEdl("cut", [{ ...one, endMs: fps === 25 ? 4000 : 4004 }])).toContain(times);
  });

  it("of sound alone has audio events", () => {
    const one = { ...SOURCE, ...event(0, 4000), fps: null, hasVideo: false, hasAudio: true };
    expect(formatEdl("cut", [one])).toContain("001  AX       A     C");
  });

  it("of a video without audio has video events of at least a frame and names on one line", () => {
    const lines = edlLines([{ clip: "a\r\n001  AX", startMs: 0, endMs: 1 }], 25, false);
    expect(lines[3]).toBe(
      "001  AX       V     C        00:00:00:00 00:00:00:01 01:00:00:00 01:00:00:01",
    );
    expect(lines[4]).toBe("* FROM CLIP NAME: a 001  AX");
  });
});

describe("an edit decision list of several sources", () => {
  const first = { ...SOURCE, clip: "first.mp4", fps: 25, hasAudio: true };
  const second = { ...SOURCE, sourceId: "vid_2", clip: "עותק (2).mov", fps: 25, hasAudio: false };

  it("has the events in their order, each with its clip's name and track", () => {
    const events = [
      { ...second, startMs: 2000, endMs: 3000 },
      { ...first, startMs: 10_000, endMs: 12_500 },
      { ...second, startMs: 0, endMs: 1000 },
    ];
    expect(formatEdl("My\ncut", events).split("\r\n")).toEqual([
      "TITLE: My cut",
      "FCM: NON-DROP FRAME",
      "",
      "001  AX       V     C        00:00:02:00 00:00:03:00 01:00:00:00 01:00:01:00",
      "* FROM CLIP NAME: עותק (2).mov",
      "002  AX       B     C        00:00:10:00 00:00:12:13 01:00:01:00 01:00:03:13",
      "* FROM CLIP NAME: first.mp4",
      "003  AX       V     C        00:00:00:00 00:00:01:00 01:00:03:13 01:00:04:13",
      "* FROM CLIP NAME: עותק (2).mov",
      "",
    ]);
  });

  it.each([
    [undefined, "01:00:01:00 01:00:03:00", "* SOURCE FRAME RATE: 50", "FCM: NON-DROP FRAME"],
    [50, "01:00:01:00 01:00:03:00", undefined, "FCM: NON-DROP FRAME"],
    [29.97, "01:00:01;00 01:00:03;00", "* SOURCE FRAME RATE: 50", "FCM: DROP FRAME"],
  ])("counts the programme in the rate %s, and names other rates", (fps, times, rate, mode) => {
    const other = { ...SOURCE, sourceId: "vid_3", clip: "b.mp4", fps: 50, hasAudio: true };
    const events = [
      { ...first, startMs: 0, endMs: 1000 },
      { ...other, startMs: 1000, endMs: 3000 },
    ];
    const lines = formatEdl("cut", events, fps).split("\r\n");
    const at = lines.findIndex((line) => line.startsWith("002"));
    expect(lines[1]).toBe(mode);
    expect(lines[at]).toBe(`002  AX       B     C        00:00:01:00 00:00:03:00 ${times}`);
    expect(lines.slice(at + 1).filter(Boolean)).toEqual(
      ["* FROM CLIP NAME: b.mp4", rate].filter(Boolean),
    );
  });

  it("has a reel for each of two sources of one name", () => {
    const events = [
      { ...first, startMs: 0, endMs: 1000 },
      { ...first, sourceId: "vid_4", startMs: 0, endMs: 1000 },
    ];
    const reels = formatEdl("cut", events).match(/^\d{3} {2}\S+/gm);
    expect(reels).toEqual(["001  AX", "002  AX2"]);
  });

  it("is only a header without events", () => {
    expect(formatEdl("cut", [])).toBe("TITLE: cut\r\nFCM: NON-DROP FRAME\r\n\r\n");
  });
});
