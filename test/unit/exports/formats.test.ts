import { describe, expect, it } from "vitest";
import type { CutList, Moment } from "../../../src/exports/cut-list.ts";
import { exportFormat, type ExportFormatName } from "../../../src/exports/formats.ts";
import type { Asset } from "../../../src/types.ts";
import { find, readXml } from "../../support/cut-list-readers.ts";
import { cutOf, listOf } from "../../support/cut-lists.ts";

const write = (format: ExportFormatName, moments: Moment[], options = {}) => {
  const { isCounted, format: formatList } = exportFormat(format);
  return formatList(listOf(moments, options, isCounted));
};
const refuse = (format: ExportFormatName, list: CutList) => exportFormat(format).refuse?.(list);
const NTSC = { fps: 29.97, technical: { start_timecode: "01:00:00;02" } };
const PHONE = { width: 1080, height: 1920, technical: { rotation: 90 } };
const DVD = { width: 1024, height: 576, technical: { pixel_aspect: 1.422 } };
const SOUND = { fps: null, width: null, height: null, technical: { has_video: false } };
const IMAGE = {
  assetType: "image",
  assetId: "img_1" as Asset["assetId"],
  title: "boats & sea.jpg",
  fps: null,
  hasAudio: false,
  durationMs: 0,
} as const;

describe("FCPXML", () => {
  it.each<[string, Partial<Asset>, string[]]>([
    ["25 fps", {}, ['frameDuration="1/25s"', 'start="2s" duration="3s"', 'tcFormat="NDF"']],
    [
      "29.97 fps from a timecode",
      NTSC,
      [
        'frameDuration="1001/30000s"',
        'tcStart="107999892/30000s" tcFormat="DF"',
        'start="108061954/30000s"',
      ],
    ],
    ["a turned film", PHONE, ['width="1080" height="1920"/>']],
    ["a squeezed film", DVD, ['width="720" height="576" paspH="1422" paspV="1000"/>']],
    ["sound alone", SOUND, ['hasAudio="1" audioSources="1">', 'audioRole="dialogue"']],
    [
      "an image",
      IMAGE,
      ['name="FFVideoFormatRateUndefined" width', "<video ref=", 'duration="5s"'],
    ],
  ])("of %s says how it is stored", (_, asset, parts) => {
    const text = write("fcpxml", [cutOf(asset, 2000, 5000)]);
    for (const part of parts) expect(text).toContain(part);
    readXml(text);
  });

  it("of another rate on the timeline isn't played faster", () => {
    const text = write("fcpxml", [cutOf({ fps: 24 }, 0, 1000)], { fps: 25 });
    expect(text).toContain('<conform-rate scaleEnabled="0" srcFrameRate="24"/>');
  });
});

describe("XML for Premiere", () => {
  it("has linked items on a track each, and the file once", () => {
    const text = write("premiere_xml", [cutOf(NTSC, 1001, 2002), cutOf(NTSC, 0, 1001)]);
    const sequence = find(readXml(text), "sequence");
    const tracks = ["video", "audio"].map((type) => find(sequence, "media", type, "track"));
    expect(tracks.map(({ children }) => children.length)).toEqual([2, 2]);
    expect(text.match(/<pathurl>file:\/\/localhost\/film.mp4<\/pathurl>/g)).toHaveLength(1);
    expect(text.match(/<linkclipref>video-0</g)).toHaveLength(2);
    expect(text).toMatch(/<string>01:00:00;02<\/string>\s+<frame>107894</);
  });

  it.each([
    [DVD, "<pixelaspectratio>PAL-601</pixelaspectratio>", "<anamorphic>TRUE</anamorphic>"],
    [PHONE, "<pixelaspectratio>square</pixelaspectratio>", "<height>1920</height>"],
    [IMAGE, "<stillframe>TRUE</stillframe>", "<pathurl>file://localhost/boats%20%26%20sea.jpg<"],
  ])("of %j says how it is shown", (asset, ...parts) => {
    const text = write("premiere_xml", [cutOf(asset, 0, 1000)]);
    for (const part of parts) expect(text).toContain(part);
  });
});

describe("OpenTimelineIO", () => {
  it("has a gap on the track of video beside sound alone, and the other way round", () => {
    const sound = { ...SOUND, assetId: "vid_2" as Asset["assetId"], title: "tone.mp3" };
    const { tracks } = JSON.parse(write("otio", [cutOf(sound, 0, 1000), cutOf(IMAGE, 0, 0)]));
    const schemas = tracks.children.map(({ kind, children }: never) => {
      return [kind, (children as { OTIO_SCHEMA: string }[]).map((one) => one.OTIO_SCHEMA)];
    });
    expect(schemas).toEqual([
      ["Video", ["Gap.1", "Clip.2"]],
      ["Audio", ["Clip.2", "Gap.1"]],
    ]);
  });
});

describe("a cut", () => {
  it.each([
    [0, 40, [0, 1]],
    [19, 21, [0, 1]],
    [1000, 1001, [25, 26]],
    [7_199_990, 7_200_000, [179_999, 180_000]],
  ])("from %d to %d ms has the nearest frames of 25 a second, at least one", (from, to, frames) => {
    const [cut] = listOf([cutOf({}, from, to)]).cuts;
    expect([cut!.sourceIn, cut!.sourceOut]).toEqual(frames);
  });

  it("is longer by its handles as far as the file goes, an image isn't", () => {
    const moments = [cutOf({}, 1000, 2000), cutOf({}, 7_199_000, 7_200_000), cutOf(IMAGE, 0, 0)];
    const { cuts } = listOf(moments, { handlesMs: 2000 });
    const lengths = cuts.map(({ sourceIn, sourceOut }) => sourceOut - sourceIn);
    expect(lengths).toEqual([4 * 25, 3 * 25, 5 * 25]);
  });
});

describe("chapters", () => {
  const minutes = (...starts: number[]) =>
    starts
      .slice(1)
      .map((end, i) => cutOf({}, 60_000 * starts[i]!, 60_000 * end, { label: `${i}` }));

  it("begin at 0:00, with hours where there are", () => {
    const text = write("chapters", minutes(0, 0.5, 10, 70, 71));
    expect(text).toBe("0:00 0\n0:30 1\n10:00 2\n1:10:00 3\n");
  });

  it("of WebVTT have each cut's start and end", () => {
    const [cut] = minutes(0, 0.5);
    const text = write("chapters_vtt", [{ ...cut!, label: "<a> & b" }]);
    expect(text).toBe("WEBVTT\n\n00:00:00.000 --> 00:00:30.000\n&lt;a&gt; &amp; b\n");
  });

  it.each([
    [minutes(0, 1, 2), /3 chapters or more, not 2/],
    [minutes(0, 1, 1.1, 2), /10 s or more, and number 2 has 6 s/],
    [minutes(0, 1, 2, 3), undefined],
  ])("are refused if YouTube shows none: list %#", (moments, reason) => {
    const refusal = refuse("chapters", listOf(moments)) ?? undefined;
    if (reason) expect(refusal).toMatch(reason);
    else expect(refusal).toBeUndefined();
  });
});

describe("a format refuses", () => {
  it.each([10, 15, 127, 240])("FCPXML with a timeline of %d frames a second", (fps) => {
    const refusal = refuse("fcpxml", listOf([cutOf({ fps }, 0, 1000)]));
    expect(refusal).toContain(`no timeline of ${fps} frames a second; give \`fps\`: 23.98, 24, 25`);
  });

  it.each(["edl", "markers_edl", "markers_csv", "premiere_xml"] as const)(
    "%s past the end of the day",
    (format) => {
      const moments = Array.from({ length: 12 }, () => cutOf({}, 0, 7_200_000));
      expect(refuse(format, listOf(moments, {}, true))).toMatch(/^Timecode counts 24 hours/);
      expect(refuse(format, listOf(moments.slice(1, 12).slice(0, 11), {}, true))).toBeNull();
    },
  );
});
