import { describe, expect, it } from "vitest";
import { formatEdl } from "../../../src/media/edl.ts";

const event = (startMs: number, endMs: number) => ({ clip: "film.mp4", startMs, endMs });
const edlLines = (events: ReturnType<typeof event>[], fps: number | null, hasAudio = true) => {
  const withSource = events.map((one) => ({ ...one, fps, hasAudio }));
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

  it("of a video without audio has video events of at least a frame and names on one line", () => {
    const lines = edlLines([{ clip: "a\r\n001  AX", startMs: 0, endMs: 1 }], 25, false);
    expect(lines[3]).toBe(
      "001  AX       V     C        00:00:00:00 00:00:00:01 01:00:00:00 01:00:00:01",
    );
    expect(lines[4]).toBe("* FROM CLIP NAME: a 001  AX");
  });
});

describe("an edit decision list of several sources", () => {
  const first = { clip: "first.mp4", fps: 25, hasAudio: true };
  const second = { clip: "עותק (2).mov", fps: 25, hasAudio: false };

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
    const other = { clip: "b.mp4", fps: 50, hasAudio: true };
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

  it("is only a header without events", () => {
    expect(formatEdl("cut", [])).toBe("TITLE: cut\r\nFCM: NON-DROP FRAME\r\n\r\n");
  });
});
