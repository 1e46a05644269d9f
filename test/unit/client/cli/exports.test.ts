import { describe, expect, it } from "vitest";
import { type Clip, type ExportedSegment, toClip } from "../../../../client/src/cli/export/clip.ts";
import { formatCsv } from "../../../../client/src/cli/export/csv.ts";
import { toOtio } from "../../../../client/src/cli/export/otio.ts";

const segment: ExportedSegment = {
  segment_id: "seg_1",
  index_name: "trip",
  asset_id: "vid_1",
  asset_type: "video",
  video_id: "vid_1",
  image_id: null,
  start_seconds: 1,
  end_seconds: 3.5,
  caption: "A boat.",
  caption_model: null,
  transcript: "",
  on_screen_text: "",
  labels: ["boat", "sea"],
  boxes: null,
  mask: null,
  title: "film.mp4",
  metadata: {},
  thumbnail_url: null,
  clip_url: "https://sightline.example/media/1",
};
const image: ExportedSegment = {
  ...segment,
  segment_id: "seg_2",
  asset_type: "image",
  video_id: null,
  image_id: "img_1",
  start_seconds: null,
  end_seconds: null,
};

describe("CSV", () => {
  it("has a header and a row for each segment, images too", () => {
    const [header, first, second, end] = formatCsv([{ ...segment, rank: 1 }, image]).split("\r\n");
    expect(header).toMatch(/^rank,score,segment_id,/);
    expect(first).toBe('1,,seg_1,vid_1,video,film.mp4,1,3.5,A boat.,,,"boat; sea"');
    expect(second).toContain(",image,film.mp4,,,");
    expect(end).toBe("");
  });

  it.each([
    ["plain", "plain"],
    ["a, b", '"a, b"'],
    ['say "hi"', '"say ""hi"""'],
    ["two\nlines", '"two\nlines"'],
    ["=HYPERLINK(1)", "'=HYPERLINK(1)"],
    ["-cmd", "'-cmd"],
    ["-5", "-5"],
    [" =1+1", "' =1+1"],
    ['"=1+1', '"\'""=1+1"'],
    ["a;=1+1", '"a;\'=1+1"'],
    ["a\t@SUM(1)", '"a\t\'@SUM(1)"'],
    ["a\n+1", '"a\n\'+1"'],
    ["＝1+1", "'＝1+1"],
    ["a \u001B[2J\u009B31m\u202Eb", "a [2J31mb"],
  ])("writes the caption %j as %j", (caption, field) => {
    expect(formatCsv([{ ...segment, caption }])).toContain(`,1,3.5,${field},`);
  });
});

describe("OpenTimelineIO", () => {
  const clip: Clip = toClip(segment, { fps: 24, duration_seconds: 10 })!;
  const read = (clips: Clip[]) => {
    const timeline = JSON.parse(JSON.stringify(toOtio("boats", clips)));
    return { timeline, clips: timeline.tracks.children[0].children };
  };

  it("has one video track with a clip for each segment", () => {
    const { timeline, clips } = read([clip, clip]);
    expect(timeline).toMatchObject({ OTIO_SCHEMA: "Timeline.1", name: "boats" });
    expect(timeline.tracks).toMatchObject({ OTIO_SCHEMA: "Stack.1" });
    expect(timeline.tracks.children).toMatchObject([{ OTIO_SCHEMA: "Track.1", kind: "Video" }]);
    expect(clips).toHaveLength(2);
  });

  it("counts the time range of a clip in frames of its file", () => {
    const [{ OTIO_SCHEMA, source_range, media_references }] = read([clip]).clips;
    expect(OTIO_SCHEMA).toBe("Clip.2");
    expect(source_range).toMatchObject({
      start_time: { value: 24, rate: 24 },
      duration: { value: 60, rate: 24 },
    });
    expect(media_references.DEFAULT_MEDIA).toMatchObject({
      OTIO_SCHEMA: "ExternalReference.1",
      target_url: "film.mp4",
      available_range: { start_time: { value: 0 }, duration: { value: 240 } },
    });
  });

  it("takes 25 frames a second for a file without a known rate, and at least one frame", () => {
    const short = toClip({ ...segment, end_seconds: 1.001 }, undefined)!;
    expect(read([short]).clips[0].source_range.duration).toMatchObject({ value: 1, rate: 25 });
  });

  it("has no clip of an image", () => {
    expect(toClip(image, undefined)).toBeNull();
  });
});
