import * as z from "zod";
import { LIST_ITEMS } from "../../src/bounded-list.ts";
import type { Json } from "./client.ts";

/** A valid line with every field that a record may have. */
export function videoLine(): Json {
  return {
    kind: "asset",
    record: {
      format: 1,
      asset_id: "vid_01KATN4B7Y3D5E8GHJ1K2M6P9Q",
      asset_type: "video",
      title: "A title",
      metadata: { year: 2026 },
      source: {
        kind: "videonet",
        url: "https://example.org/watch",
        platform: "peertube",
        platform_id: "42",
        author: "Ada",
        licence: "CC BY",
        published_at: "2026-01-01T00:00:00.000Z",
        description: "A description",
        alt_text: "An alternative text",
      },
      content_type: "video/mp4",
      size_bytes: 1000,
      sha256: "0".repeat(64),
      width: 1920,
      height: 1080,
      duration_ms: 6000,
      fps: 25,
      has_audio: true,
      language: "en",
      technical: {
        format: "mp4",
        container: "MP4",
        has_video: true,
        video_codec: "avc",
        codec_string: "avc1.640028",
        audio_codec: "aac",
        rotation: 0,
        pixel_aspect: 1.422,
        bitrate: 1000,
        audio_bitrate: 100,
        audio_language: "en",
        folder: "Trips/Norway",
        description: "The harbour at noon",
        keywords: ["harbour"],
        taken_at: "2024-06-01T10:30:00.000Z",
        camera: "Lumen One",
        lens: "35mm F2",
        latitude: 60.391667,
        longitude: 5.32,
        altitude: 125,
        working_copy: {
          reason: "unreadable_container",
          container: "mp4",
          video_codec: "avc",
          audio_codec: "aac",
          bytes: 900,
          width: 1280,
          height: 720,
        },
        storyboard: {
          tiles: 6,
          columns: 6,
          tile_width: 160,
          tile_height: 90,
          interval_seconds: 1,
        },
      },
      waveform: Array.from({ length: 1000 }, () => 0.5),
      keyframe_ms: 1000,
      warnings: [{ code: "source_missing", message: "A message" }],
      created_at: 1_700_000_000_000,
      transcript: {
        language: "en",
        source: "upload",
        error: { code: "internal", message: "A message" },
        cues: [{ start: 0, end: 1, text: "Hello" }],
      },
      segments: [
        {
          start_ms: 0,
          end_ms: 6000,
          keyframe_ms: 1000,
          caption: "A caption",
          caption_model: "template",
          on_screen_text: "SIGN",
          labels: ["goat"],
          boxes: [{ label: "goat", score: 0.5, x: 0.1, y: 0.1, width: 0.5, height: 0.5 }],
          error: { code: "unreadable_frame", message: "A message" },
        },
      ],
    },
    files: [{ path: "source", url: "https://example.org/source" }],
  };
}

/** Lists the paths of the fields of a schema that aren't objects or lists; `0` is a list's item. */
export function fieldsOf(schema: z.ZodType, path: string[] = []): string[] {
  const list = LIST_ITEMS.get(schema);
  if (list) return fieldsOf(list.item as z.ZodType, [...path, "0"]);
  if (schema instanceof z.ZodDiscriminatedUnion) {
    return schema.options.flatMap((option) => fieldsOf(option as z.ZodType, path));
  }
  if (schema instanceof z.ZodObject) {
    const shape: Record<string, z.ZodType> = schema.shape;
    return Object.entries(shape).flatMap(([name, field]) => fieldsOf(field, [...path, name]));
  }
  if (schema instanceof z.ZodPipe) return fieldsOf(schema.in as z.ZodType, path);
  if ("innerType" in schema.def) return fieldsOf(schema.def.innerType as z.ZodType, path);
  return [path.join(".")];
}

/** Sets a field of a line. */
export function setField(line: Json, path: string, value: unknown): Json {
  const names = path.split(".");
  const last = names.pop()!;
  const parent = names.reduce((object, name) => object[name], line);
  parent[last] = value;
  return line;
}

/** Returns a field of a line. */
export function getField(line: Json, path: string): Json {
  return path.split(".").reduce((object, name) => object?.[name], line);
}
