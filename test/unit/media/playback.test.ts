import { expect, it } from "vitest";
import { playsInBrowsers } from "../../../src/ingest/conversion.ts";

const film = (container: string, codec_string: string | null, audio_codec: string | null) => ({
  container,
  has_video: true,
  codec_string,
  audio_codec,
});
const sound = (container: string, audio_codec: string) => ({
  container,
  has_video: false,
  audio_codec,
});

it.each([
  ["H.264 high with AAC in MP4", film("MP4", "avc1.640028", "aac"), true],
  ["H.264 without sound in MOV", film("QuickTime File Format", "avc1.42001e", null), true],
  ["H.264 of 10 bits", film("MP4", "avc1.6e0028", "aac"), false],
  ["H.264 of 4:2:2", film("MP4", "avc1.7a0028", "aac"), false],
  ["H.264 of 4:4:4", film("MP4", "avc1.f40028", "aac"), false],
  ["HEVC", film("MP4", "hvc1.1.6.L93.B0", "aac"), false],
  ["HEVC with its parameters in the stream", film("MP4", "hev1.1.6.L93.B0", "aac"), false],
  ["ProRes", film("QuickTime File Format", "apch", "pcm-s16"), false],
  ["VP8 in WebM", film("WebM", "vp8", "vorbis"), true],
  ["VP9 of 8 bits in WebM", film("WebM", "vp09.00.10.08", "opus"), true],
  ["VP9 of 10 bits", film("WebM", "vp09.02.10.10", "opus"), false],
  ["AV1 in MP4", film("MP4", "av01.0.04M.08", "opus"), true],
  ["AV1 of 4:4:4", film("MP4", "av01.1.04M.08", "opus"), false],
  ["H.264 in Matroska", film("Matroska", "avc1.640028", "aac"), false],
  ["AC-3 in MP4", film("MP4", "avc1.640028", "ac3"), false],
  ["PCM in MOV", film("QuickTime File Format", "avc1.640028", "pcm-s16"), false],
  ["a film from before its codec was recorded", film("MP4", null, "aac"), true],
  ["MP3", sound("MP3", "mp3"), true],
  ["WAV", sound("WAVE", "pcm-s16"), true],
  ["M4A", sound("MP4", "aac"), true],
  ["Opus in Ogg", sound("Ogg", "opus"), true],
  ["ALAC in M4A", sound("MP4", "alac"), false],
])("whether browsers play a file is known: %s", (_, facts, plays) => {
  expect(playsInBrowsers(facts)).toBe(plays);
});
