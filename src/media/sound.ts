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
import { AppError } from "../errors.ts";
import { reading } from "./container.ts";

export interface Sound {
  /** A standalone file: ADTS, MP3, FLAC, Ogg or WAV, by the codec, Matroska for the rest. */
  bytes: Uint8Array;
  /** Where it begins in the video, in seconds. */
  startSeconds: number;
}

/** The plainest first. */
const formats = () => [
  new AdtsOutputFormat(),
  new Mp3OutputFormat(),
  new FlacOutputFormat(),
  new OggOutputFormat(),
  new WavOutputFormat(),
  new MkvOutputFormat(),
];

/** Null where the video has no sound. Throws `unreadable_container`. */
export function getAudioTrack(input: Input): Promise<InputAudioTrack | null> {
  return reading(() => input.getPrimaryAudioTrack());
}

/**
 * Copies the sound from `from` to `to` (seconds) into a file of its own, without decoding; null where
 * there is none. Throws `unsupported_sound` or `unreadable_container`.
 */
export async function cutSound(
  track: InputAudioTrack,
  from: number,
  to: number,
): Promise<Sound | null> {
  const codec = await track.getCodec();
  const format = codec && formats().find((one) => one.getSupportedAudioCodecs().includes(codec));
  if (!format) {
    const name = String(codec ?? (await track.getInternalCodecId()));
    throw new AppError(
      "unsupported_sound",
      `The sound is coded as ${name}, which can't be heard here. Convert it to AAC, or send a transcript.`,
    );
  }
  return reading(async () => {
    const sink = new EncodedPacketSink(track);
    const first = (await sink.getPacket(from)) ?? (await sink.getFirstPacket());
    if (!first || first.timestamp >= to) return null;
    const output = new Output({ format, target: new BufferTarget() });
    const source = new EncodedAudioPacketSource(codec);
    output.addAudioTrack(source);
    await output.start();
    const decoderConfig = (await track.getDecoderConfig()) ?? undefined;
    for await (const packet of sink.packets(first)) {
      if (packet.timestamp >= to) break;
      const timestamp = packet.timestamp - first.timestamp;
      await source.add(packet.clone({ timestamp }), decoderConfig && { decoderConfig });
    }
    await output.finalize();
    return { bytes: new Uint8Array(output.target.buffer!), startSeconds: first.timestamp };
  });
}
