import { describe, expect, it } from "vitest";
import { cleanTitle } from "../../../src/asset-names.ts";
import { cleanText } from "../../../src/clean-text.ts";
import { LIMITS } from "../../../src/config.ts";
import { archiveLine } from "../../../src/ingest/archive-line.ts";
import { CONVERSION } from "../../../src/parameters.ts";
import { fieldsOf, getField, setField, videoLine } from "../../support/archive-fields.ts";
import type { Json } from "../../support/client.ts";

const REFUSED = Symbol("refused");
type Case = [hostile: unknown, expected: unknown];

const HOSTILE_TEXT = " a\u0007b\u001b[2J\u202ec\r\n\r\n\ud800d \u0000e ";
const refuse = (...values: unknown[]): Case[] => values.map((value) => [value, REFUSED]);
const unfetched = (path: string): Case => [path, undefined];
const NOT_NUMBERS = refuse("1", true, [], {}, Number.NaN, Infinity);
const NOT_TEXTS = refuse(1, true, [], {});

/** Hostile values of each sort of field, and what becomes of them. */
const SORTS: Record<string, Case[]> = {
  constant: refuse("other", 2, null, [], {}),
  id: [...NOT_TEXTS, ...refuse("", "..", "vid_..", "img_01KATN4B7Y3D5E8GHJ1K2M6P9Q", null)],
  line: [
    ...NOT_TEXTS,
    ...refuse("a".repeat(10_001)),
    [HOSTILE_TEXT, cleanTitle(HOSTILE_TEXT)],
    ["a".repeat(400), "a".repeat(300)],
  ],
  lines: [
    ...refuse("a", 1, true, {}, null, [1], ["a".repeat(10_001)], Array(101).fill("a")),
    [[HOSTILE_TEXT], [cleanTitle(HOSTILE_TEXT)]],
  ],
  label: [
    ...NOT_TEXTS,
    ...refuse("", " \n", null, "a".repeat(10_001)),
    [HOSTILE_TEXT, cleanTitle(HOSTILE_TEXT)],
  ],
  text: [...NOT_TEXTS, ...refuse("a".repeat(20_001)), [HOSTILE_TEXT, cleanText(HOSTILE_TEXT)]],
  spoken: [
    ...NOT_TEXTS,
    ...refuse("a".repeat(LIMITS.transcriptCharacters + 1), null),
    [HOSTILE_TEXT, cleanText(HOSTILE_TEXT)],
    ["\u0007", undefined], // a cue without text is dropped
  ],
  url: [
    ...NOT_TEXTS,
    ...refuse("", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//x", "x"),
    ...refuse("java\nscript:alert(1)", "https://a.example/\u0007", "https://u:p@a.example/"),
    ...refuse(`https://a.example/${"a".repeat(8000)}`, null),
  ],
  fetched: [
    ...NOT_TEXTS,
    ...refuse("", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", null),
    ...refuse(`https://a.example/${"a".repeat(8000)}`),
  ],
  path: [
    ...NOT_TEXTS,
    ...refuse(null, "a".repeat(101)),
    // What the record doesn't refer to isn't fetched.
    ...["", "../x", "source/x", "asset.json", "transcript.json", "keyframes/a.jpg"].map(unfetched),
    ...["keyframes/999.jpg", "reference-frames/1.bin"].map(unfetched),
  ],
  time: [
    ...NOT_TEXTS,
    ...refuse("", "now", "2026-01-01", `2026-01-01T00:00:00.${"0".repeat(40)}Z`),
  ],
  moment: [
    ...NOT_TEXTS,
    ...refuse("", "now", "2026-01-01", null, `2026-01-01T00:00:00.${"0".repeat(40)}Z`),
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"],
  ],
  language: [...NOT_TEXTS, ...refuse("a".repeat(10_001)), ["english", null], [HOSTILE_TEXT, null]],
  mediaType: [...NOT_TEXTS, ...refuse("", "text/html", "image/svg+xml", "video/mp4\r\nx: y")],
  hash: [...NOT_TEXTS, ...refuse("", "0".repeat(63), "G".repeat(64), null)],
  object: refuse("a", 1, true, [], null, { a: 2 ** 53 }, { a: "a".repeat(70_000) }),
  bool: refuse("true", 1, [], {}),
  ms: [...NOT_NUMBERS, ...refuse(-1, 0.5, 2 ** 53, LIMITS.videoSeconds * 1000 + 1)],
  keyframe: [...NOT_NUMBERS, ...refuse(-1, 0.5, 6000, 2 ** 53)],
  date: [...NOT_NUMBERS, ...refuse(-1, 0.5, 8.64e15 + 1, 9e15, null)],
  bytes: [...NOT_NUMBERS, ...refuse(-1, 0.5, LIMITS.uploadBytes + 1, null)],
  codec: [...refuse("", "h264", 1, true, []), [null, null]],
  copyBytes: [...NOT_NUMBERS, ...refuse(0, -1, 0.5, CONVERSION.copyBytes + 1, null)],
  side: [...NOT_NUMBERS, ...refuse(0, -1, 0.5, 2 ** 31)],
  tiles: [...NOT_NUMBERS, ...refuse(0, 0.5, 101, null)],
  tileSide: [...NOT_NUMBERS, ...refuse(15, 16.5, 161, null)],
  rate: [...NOT_NUMBERS, ...refuse(0, -1, 1e9)],
  bitrate: [...NOT_NUMBERS, ...refuse(-1, 1e13)],
  angle: [...NOT_NUMBERS, ...refuse(361, 0.5)],
  aspect: [...NOT_NUMBERS, ...refuse(0, 11, null)],
  latitude: [...NOT_NUMBERS, ...refuse(-90.1, 90.1, null)],
  longitude: [...NOT_NUMBERS, ...refuse(-180.1, 180.1, null)],
  altitude: [...NOT_NUMBERS, ...refuse(-501, 100_001, null)],
  share: [...NOT_NUMBERS, ...refuse(-0.1, 1.1, null)],
  offset: [...NOT_NUMBERS, ...refuse(-0.1, 0.6, 1, null)],
  extent: [...NOT_NUMBERS, ...refuse(-0.1, 0, 0.95, null)],
  start: [...NOT_NUMBERS, ...refuse(1e7, -1e7), [-5, 0]],
  end: [...NOT_NUMBERS, ...refuse(1e7, -1e7), [-5, 1]], // as long as its text takes to read
};

/** The sort of each field. */
const FIELDS: Record<string, keyof typeof SORTS> = {
  kind: "constant",
  "record.format": "constant",
  "record.asset_id": "id",
  "record.asset_type": "constant",
  "record.title": "line",
  "record.metadata": "object",
  "record.source.kind": "constant",
  "record.source.url": "url",
  "record.source.platform": "line",
  "record.source.platform_id": "text",
  "record.source.author": "line",
  "record.source.licence": "line",
  "record.source.published_at": "time",
  "record.source.description": "text",
  "record.source.alt_text": "text",
  "record.content_type": "mediaType",
  "record.size_bytes": "bytes",
  "record.sha256": "hash",
  "record.width": "side",
  "record.height": "side",
  "record.duration_ms": "ms",
  "record.fps": "rate",
  "record.has_audio": "bool",
  "record.language": "language",
  "record.technical.format": "line",
  "record.technical.container": "line",
  "record.technical.has_video": "bool",
  "record.technical.video_codec": "line",
  "record.technical.codec_string": "line",
  "record.technical.audio_codec": "line",
  "record.technical.rotation": "angle",
  "record.technical.pixel_aspect": "aspect",
  "record.technical.bitrate": "bitrate",
  "record.technical.audio_bitrate": "bitrate",
  "record.technical.audio_language": "line",
  "record.technical.start_timecode": "line",
  "record.technical.folder": "line",
  "record.technical.description": "text",
  "record.technical.keywords": "lines",
  "record.technical.taken_at": "moment",
  "record.technical.camera": "line",
  "record.technical.lens": "line",
  "record.technical.latitude": "latitude",
  "record.technical.longitude": "longitude",
  "record.technical.altitude": "altitude",
  "record.technical.working_copy.reason": "constant",
  "record.technical.working_copy.container": "constant",
  "record.technical.working_copy.video_codec": "codec",
  "record.technical.working_copy.audio_codec": "codec",
  "record.technical.working_copy.bytes": "copyBytes",
  "record.technical.working_copy.width": "side",
  "record.technical.working_copy.height": "side",
  "record.technical.storyboard.tiles": "tiles",
  "record.technical.storyboard.columns": "tiles",
  "record.technical.storyboard.tile_width": "tileSide",
  "record.technical.storyboard.tile_height": "tileSide",
  "record.technical.storyboard.interval_seconds": "rate",
  "record.waveform.0": "share",
  "record.keyframe_ms": "keyframe",
  "record.warnings.0.code": "constant",
  "record.warnings.0.message": "text",
  "record.created_at": "date",
  "record.transcript.language": "language",
  "record.transcript.source": "constant",
  "record.transcript.error.code": "constant",
  "record.transcript.error.message": "text",
  "record.transcript.cues.0.start": "start",
  "record.transcript.cues.0.end": "end",
  "record.transcript.cues.0.text": "spoken",
  "record.segments.0.start_ms": "ms",
  "record.segments.0.end_ms": "ms",
  "record.segments.0.keyframe_ms": "keyframe",
  "record.segments.0.caption": "text",
  "record.segments.0.caption_model": "line",
  "record.segments.0.on_screen_text": "text",
  "record.segments.0.labels.0": "label",
  "record.segments.0.boxes.0.label": "label",
  "record.segments.0.boxes.0.score": "share",
  "record.segments.0.boxes.0.x": "offset",
  "record.segments.0.boxes.0.y": "offset",
  "record.segments.0.boxes.0.width": "extent",
  "record.segments.0.boxes.0.height": "extent",
  "record.segments.0.error.code": "constant",
  "record.segments.0.error.message": "text",
  "files.0.path": "path",
  "files.0.url": "fetched",
};

/** Fields of other lines, which an import ignores. */
const IGNORED = new Set(["kind", "index_name", "description", "metadata", "assets"]);

const isRefused = (line: Json) => !archiveLine.safeParse(line).success;

it("Every field of an archive's asset has hostile values in this test", () => {
  const fields = fieldsOf(archiveLine).filter((field) => !IGNORED.has(field));
  expect(new Set(["kind", ...fields])).toEqual(new Set(Object.keys(FIELDS)));
});

it("An archive's asset with every field is taken as it is", () => {
  expect(archiveLine.parse(videoLine())).toEqual(videoLine());
});

describe.each(Object.entries(FIELDS))("The field %s of an archive", (path, sort) => {
  it.each(SORTS[sort]!)("%j is refused, or cleaned as an ingest does", (hostile, expected) => {
    const line = setField(videoLine(), path, hostile);
    const parsed = archiveLine.safeParse(line);
    const actual = parsed.success ? getField(parsed.data, path) : REFUSED;
    expect(actual).toEqual(expected);
  });
});

describe("An archive's asset is refused", () => {
  const changed = (change: (record: Json, line: Json) => void) => {
    const line = videoLine();
    change(line.record, line);
    return line;
  };
  const segment = (start_ms: number | null, end_ms: number | null) => {
    const keyframe_ms = Math.floor(((start_ms ?? 0) + (end_ms ?? 0)) / 2);
    return { ...videoLine().record.segments[0], start_ms, end_ms, keyframe_ms };
  };
  const withSegments = (...times: [number | null, number | null][]) =>
    changed((record) => {
      record.segments = times.map(([start, end]) => segment(start, end));
      record.keyframe_ms = null;
    });

  it.each<[string, Json]>([
    ["with a segment of no length", withSegments([0, 0], [0, 6000])],
    ["with segments that overlap", withSegments([0, 4000], [3000, 6000])],
    ["with a gap between segments", withSegments([0, 2000], [3000, 6000])],
    ["with segments that aren't sorted", withSegments([3000, 6000], [0, 3000])],
    ["with segments beyond its end", withSegments([0, 7000])],
    ["with segments that end before it does", withSegments([0, 5000])],
    ["with segments that begin later", withSegments([1, 6000])],
    ["with a segment without times", withSegments([null, null])],
    ["without segments", changed((record) => (record.segments = []))],
    ["without a length", changed((record) => (record.duration_ms = 0))],
    ["with a file twice", changed((_, line) => line.files.push(line.files[0]))],
    ["from a URL that it lacks", changed((record) => (record.source = { kind: "url" }))],
    ["from an unnamed platform", changed(({ source }) => delete source.platform)],
    [
      "with times of some cues only",
      changed(({ transcript }) => transcript.cues.push({ start: null, end: null, text: "a" })),
    ],
    [
      "with more text in a segment than a description has",
      changed(({ segments }) => (segments[0].labels = Array(999).fill("a".repeat(100)))),
    ],
    [
      "with more labels than a description has",
      changed(({ segments }) => (segments[0].labels = Array(1001).fill("a"))),
    ],
    [
      "with more text than a transcript has",
      changed(({ transcript }) => {
        transcript.cues = Array.from({ length: 1025 }, () => ({
          start: 0,
          end: 1,
          text: "a".repeat(1024),
        }));
      }),
    ],
  ])("%s", (_, line) => {
    expect(isRefused(videoLine())).toBe(false);
    expect(isRefused(line)).toBe(true);
  });

  it("if it is an image with a length, a transcript, a time or too many pixels", () => {
    const image = changed((record) => {
      Object.assign(record, { asset_id: "img_01KATN4B7Y3D5E8GHJ1K2M6P9Q", asset_type: "image" });
      Object.assign(record, { content_type: "image/png", duration_ms: 0, transcript: null });
      Object.assign(record, { keyframe_ms: 0 });
      record.technical = {};
      Object.assign(record.segments[0], { start_ms: null, end_ms: null, keyframe_ms: 0 });
    });
    expect(isRefused(image)).toBe(false);
    const { transcript, technical } = videoLine().record;
    for (const change of [
      { duration_ms: 1 },
      { technical: { working_copy: technical.working_copy } },
      { technical: { storyboard: technical.storyboard } },
      { transcript },
      { width: 20_000, height: 20_000 },
      { size_bytes: LIMITS.imageBytes + 1 },
      { segments: [{ ...image.record.segments[0], keyframe_ms: 1 }] },
      { segments: [image.record.segments[0], image.record.segments[0]] },
    ]) {
      expect(isRefused({ ...image, record: { ...image.record, ...change } })).toBe(true);
    }
  });
});

it("Unknown fields of an archive, and what an upload has no use for, are dropped", () => {
  const line = videoLine();
  line.record.source.kind = "upload";
  line.record["__extra"] = line.record.technical["extra"] = "a".repeat(100_000);
  const parsed = archiveLine.parse(line) as Json;
  expect(parsed.record.source).toEqual({ kind: "upload" });
  expect(parsed.record).not.toHaveProperty("__extra");
  expect(parsed.record.technical).toEqual(videoLine().record.technical);
});

it("A prototype key in the metadata of an archive is data, and changes no prototype", () => {
  const text = JSON.stringify(videoLine()).replace('"year":2026', '"__proto__":{"polluted":1}');
  const parsed = archiveLine.parse(JSON.parse(text)) as Json;
  expect(Object.keys(parsed.record.metadata)).toEqual(["__proto__"]);
  expect(({} as Json).polluted).toBeUndefined();
});
