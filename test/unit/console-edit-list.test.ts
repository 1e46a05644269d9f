import { describe, expect, it } from "vitest";
import { formatEdl } from "../../src/media/edl.ts";

interface Moment {
  asset_id: string;
  start_seconds: number | null;
  end_seconds: number | null;
}
type Sources = Map<string, { fps: number | null; edl: string }>;

/** The functions under test; the console is plain JavaScript without types. */
interface EditList {
  hasMixedRates: (sources: Sources) => boolean;
  joinEditLists: (title: string, moments: Moment[], sources: Sources) => string;
}

const file = new URL("../../console/console/edit-list.js", import.meta.url).href;
const { hasMixedRates, joinEditLists } = (await import(file)) as EditList;

const NTSC = 30_000 / 1001;
const moment = (id: string, start: number | null, end: number | null): Moment => ({
  asset_id: id,
  start_seconds: start,
  end_seconds: end,
});
/** The edit list of a video, as the service makes it. */
const source = (clip: string, fps: number | null, hasAudio: boolean) => {
  const event = { clip, startMs: 0, endMs: 1000 };
  return { fps, edl: formatEdl(clip, [event], { fps, hasAudio }) };
};

describe("An edit list of one video", () => {
  it.each([25, 24, NTSC, 60_000 / 1001, 24_000 / 1001, null])(
    "equals the service's at %s frames a second",
    (fps) => {
      const times: [number, number][] = [
        [0, 1.5],
        [61.04, 75.2],
        [599.97, 3700.1],
        [8.001, 8.002],
      ];
      const events = times.map(([start, end]) => {
        return { clip: "a.mp4", startMs: start * 1000, endMs: end * 1000 };
      });
      const expected = formatEdl("a.mp4", events, { fps, hasAudio: true });
      const moments = times.map(([start, end]) => moment("a", start, end));
      const sources = new Map([["a", { fps, edl: expected }]]);
      expect(joinEditLists("a.mp4", moments, sources)).toBe(expected);
    },
  );
});

describe("An edit list of several videos", () => {
  it("joins the moments in their order, each with its clip's name and track", () => {
    const sources = new Map([
      ["a", source("first.mp4", 25, true)],
      ["b", source("עותק (2).mov", 25, false)],
    ]);
    const moments = [moment("b", 2, 3), moment("a", 10, 12.5), moment("b", 0, 1)];
    expect(joinEditLists("My\ncut", moments, sources).split("\r\n")).toEqual([
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

  it("counts the programme in the first video's frame rate and names other rates", () => {
    const sources = new Map([
      ["a", source("a.mp4", 25, true)],
      ["b", source("b.mp4", 50, true)],
    ]);
    expect(hasMixedRates(sources)).toBe(true);
    const lines = joinEditLists("cut", [moment("a", 0, 1), moment("b", 1, 3)], sources).split(
      "\r\n",
    );
    expect(lines.slice(5, 8)).toEqual([
      "002  AX       B     C        00:00:01:00 00:00:03:00 01:00:01:00 01:00:03:00",
      "* FROM CLIP NAME: b.mp4",
      "* SOURCE FRAME RATE: 50",
    ]);
  });

  it("is drop-frame if the first video is", () => {
    const sources = new Map([["a", source("a.mp4", NTSC, true)]]);
    const text = joinEditLists("cut", [moment("a", 0, 61)], sources);
    expect(text).toContain("FCM: DROP FRAME");
    expect(text).toContain("00:00:00;00 00:01:01;00 01:00:00;00 01:01:01;00");
  });

  it("leaves out images and videos without a list", () => {
    const sources = new Map([["a", source("a.mp4", 25, true)]]);
    const moments = [moment("i", null, null), moment("x", 1, 2), moment("a", 0, 1)];
    const events = joinEditLists("cut", moments, sources).match(/^\d{3} /gm);
    expect(events).toEqual(["001 "]);
  });

  it("is only a header if nothing can be in it", () => {
    expect(joinEditLists("cut", [], new Map())).toBe("TITLE: cut\r\nFCM: NON-DROP FRAME\r\n\r\n");
  });
});
