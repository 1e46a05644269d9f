import { describe, expect, it } from "vitest";
import { type ExportedSegment, formatCsv } from "../../../../client/src/cli/export/csv.ts";

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
  folder: "",
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
