import {
  AdtsOutputFormat,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  FlacOutputFormat,
  type EncodedPacket,
  type InputAudioTrack,
  MkvOutputFormat,
  Mp3OutputFormat,
  OggOutputFormat,
  Output,
  WavOutputFormat,
} from "mediabunny";
import { AppError } from "../../errors.ts";
import type { TimeRange } from "../../time-range.ts";
import { withContainerErrors } from "./open-container.ts";
import { packetsFrom } from "./packets.ts";
import { isPresented, type PresentedAudio, toStreamRange } from "./timeline.ts";

export interface AudioClip {
  /** A standalone file: ADTS, MP3, FLAC, Ogg or WAV, by the codec, Matroska for the rest. */
  bytes: Uint8Array;
  /** Presentation time of its first packet, which may begin before the track does. */
  startSeconds: number;
}

/** Output formats, the simplest first. */
const createFormats = () => [
  new AdtsOutputFormat(),
  new Mp3OutputFormat(),
  new FlacOutputFormat(),
  new OggOutputFormat(),
  new WavOutputFormat(),
  new MkvOutputFormat(),
];

/** Longer pauses than this begin another clip: most of these files hold no times. */
const MAX_PAUSE_SECONDS = 0.2;

/**
 * Copies the audio from `start` to `end` (seconds) into files without pauses, without decoding, in
 * order. None without audio in this range. Throws `unsupported_audio_codec` or
 * `unreadable_container`.
 */
export async function cutAudio(audio: PresentedAudio, range: TimeRange): Promise<AudioClip[]> {
  return withContainerErrors(async () => {
    const clips: AudioClip[] = [];
    if (!isPresented(audio, range)) return clips;
    for (const packets of await listRuns(audio.track, toStreamRange(audio, range)))
      clips.push(await toClip(audio, packets));
    return clips;
  });
}

/** Reads the packets of a time range of a stream, those without a pause between them together. */
async function listRuns(track: InputAudioTrack, { start, end }: TimeRange) {
  const sink = new EncodedPacketSink(track);
  const first = (await sink.getPacket(start)) ?? (await sink.getFirstPacket());
  const runs: EncodedPacket[][] = [];
  if (!first) return runs;
  let runEnd = 0;
  for await (const packet of packetsFrom(sink, first)) {
    if (packet.timestamp >= end) break;
    if (packet.timestamp + packet.duration <= start) continue;
    const hasPause = Math.abs(packet.timestamp - runEnd) > MAX_PAUSE_SECONDS;
    if (runs.length === 0 || hasPause) runs.push([]);
    // The packet is a view of the bytes around it, which may be large frames.
    runs.at(-1)!.push(packet.clone({ data: packet.data.slice() }));
    runEnd = packet.timestamp + packet.duration;
  }
  return runs;
}

async function toClip(
  { track, origin }: PresentedAudio,
  packets: readonly EncodedPacket[],
): Promise<AudioClip> {
  const codec = await track.getCodec();
  const format =
    codec && createFormats().find((each) => each.getSupportedAudioCodecs().includes(codec));
  if (!format) throw unsupportedAudioCodec(String(codec ?? (await track.getInternalCodecId())));
  const output = new Output({ format, target: new BufferTarget() });
  const source = new EncodedAudioPacketSource(codec);
  output.addAudioTrack(source);
  await output.start();
  const decoderConfig = (await track.getDecoderConfig()) ?? undefined;
  const { timestamp: start } = packets[0]!;
  for (const packet of packets) {
    const timestamp = Math.max(0, packet.timestamp - start);
    await source.add(packet.clone({ timestamp }), decoderConfig && { decoderConfig });
  }
  await output.finalize();
  const bytes = new Uint8Array(output.target.buffer!);
  return { bytes, startSeconds: start - origin };
}

export function unsupportedAudioCodec(name: string): AppError {
  return new AppError(
    "unsupported_audio_codec",
    `The audio is coded as ${name}, which can't be transcribed here. ` +
      "Convert it to AAC, or send a transcript.",
  );
}
