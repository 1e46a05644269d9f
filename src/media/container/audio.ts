import {
  AdtsOutputFormat,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  FlacOutputFormat,
  type Input,
  type InputAudioTrack,
  MkvOutputFormat,
  Mp3OutputFormat,
  OggOutputFormat,
  Output,
  WavOutputFormat,
} from "mediabunny";
import { AppError } from "../../errors.ts";
import { withContainerErrors } from "./open-container.ts";
import { packetsFrom } from "./packets.ts";

export interface AudioClip {
  /** A standalone file: ADTS, MP3, FLAC, Ogg or WAV, by the codec, Matroska for the rest. */
  bytes: Uint8Array;
  /** Time of its first packet in the video. */
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

/** Returns null for a video without audio. Throws `unreadable_container`. */
export function getAudioTrack(input: Input): Promise<InputAudioTrack | null> {
  return withContainerErrors(() => input.getPrimaryAudioTrack());
}

/**
 * Copies the audio from `start` to `end` (seconds) into a file, without decoding. Returns null
 * without audio in this range. Throws `unsupported_audio_codec` or `unreadable_container`.
 */
export async function cutAudio(
  track: InputAudioTrack,
  start: number,
  end: number,
): Promise<AudioClip | null> {
  const codec = await track.getCodec();
  const format =
    codec && createFormats().find((each) => each.getSupportedAudioCodecs().includes(codec));
  if (!format) {
    const name = String(codec ?? (await track.getInternalCodecId()));
    throw new AppError(
      "unsupported_audio_codec",
      `The audio is coded as ${name}, which can't be transcribed here. ` +
        "Convert it to AAC, or send a transcript.",
    );
  }
  return withContainerErrors(async () => {
    const sink = new EncodedPacketSink(track);
    const first = (await sink.getPacket(start)) ?? (await sink.getFirstPacket());
    if (!first || first.timestamp >= end) return null;
    const output = new Output({ format, target: new BufferTarget() });
    const source = new EncodedAudioPacketSource(codec);
    output.addAudioTrack(source);
    await output.start();
    const decoderConfig = (await track.getDecoderConfig()) ?? undefined;
    for await (const packet of packetsFrom(sink, first)) {
      if (packet.timestamp >= end) break;
      const timestamp = packet.timestamp - first.timestamp;
      await source.add(packet.clone({ timestamp }), decoderConfig && { decoderConfig });
    }
    await output.finalize();
    return { bytes: new Uint8Array(output.target.buffer!), startSeconds: first.timestamp };
  });
}
