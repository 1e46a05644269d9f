import type { JsonObject } from "../types.ts";

/** Containers that today's browsers play, if they play the codecs. */
const CONTAINERS = new Set([
  "MP4",
  "QuickTime File Format",
  "WebM",
  "MP3",
  "WAVE",
  "Ogg",
  "FLAC",
  "ADTS",
]);
const AUDIO_CODECS = new Set(["aac", "mp3", "opus", "vorbis", "flac"]);
/** Codecs of pictures by their names in RFC 6381. Other profiles have more bits, or colours. */
const PICTURES = [
  /^avc1\.(?:42|4d|58|64)/i, // H.264: baseline, main, extended, high
  /^vp8/i,
  /^vp09\.00/i,
  /^av01\.0/i,
];

/**
 * Whether today's browsers play a file, by the technical facts of its record. Unknown facts count
 * as playable: a copy is made on request, too.
 */
export function playsInBrowsers(facts: JsonObject): boolean {
  const { container, has_video: hasVideo, audio_codec: audio, codec_string: codec } = facts;
  if (typeof container === "string" && !CONTAINERS.has(container)) return false;
  if (typeof audio === "string" && !isPlayableAudio(audio, container)) return false;
  if (hasVideo === false || typeof codec !== "string") return true;
  return PICTURES.some((pattern) => pattern.test(codec));
}

function isPlayableAudio(codec: string, container: unknown): boolean {
  return AUDIO_CODECS.has(codec) || (container === "WAVE" && codec.startsWith("pcm-"));
}
