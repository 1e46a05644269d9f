import {
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  type InputVideoTrack,
  Mp4OutputFormat,
  Output,
} from "mediabunny";
import { AppError } from "../errors.ts";
import { reading } from "./container.ts";

/** Pictures may be stored ahead of the one that is shown before them: look this far past the moment. */
const REORDER_SECONDS = 1;

export interface Clip {
  /** A standalone MP4. */
  bytes: Uint8Array;
  /** Where the wanted moment is in it, in seconds. */
  atSeconds: number;
}

/**
 * Copies the group of pictures around a moment into an MP4 of its own, without decoding. Throws
 * `unreadable_frame` where the video has no picture there, and `unsupported_codec` for anything but
 * H.264, which is what the FRAMES binding decodes.
 */
export async function cutClip(track: InputVideoTrack, seconds: number): Promise<Clip> {
  const codec = await track.getCodec();
  if (codec !== "avc") {
    const name = codec ?? String(await track.getInternalCodecId());
    throw new AppError(
      "unsupported_codec",
      `The video is coded as ${name}; only H.264 can be decoded here. Convert it to H.264 in MP4.`,
    );
  }
  return reading(async () => {
    const sink = new EncodedPacketSink(track);
    const first = (await sink.getKeyPacket(seconds)) ?? (await sink.getFirstKeyPacket());
    if (!first) throw new AppError("unreadable_frame", `No picture at ${seconds} s.`);
    const format = new Mp4OutputFormat({ fastStart: "in-memory" });
    const output = new Output({ format, target: new BufferTarget() });
    const source = new EncodedVideoPacketSource(codec);
    output.addVideoTrack(source, { rotation: await track.getRotation() });
    await output.start();
    const decoderConfig = (await track.getDecoderConfig()) ?? undefined;
    let end = 0;
    for await (const packet of sink.packets(first)) {
      const isNextGroup = packet.type === "key" && packet.timestamp > first.timestamp;
      if (packet.timestamp > seconds + REORDER_SECONDS || (isNextGroup && end > 0)) break;
      const timestamp = packet.timestamp - first.timestamp;
      if (timestamp < 0) continue; // leads into the group before
      await source.add(packet.clone({ timestamp }), decoderConfig && { decoderConfig });
      end = Math.max(end, timestamp);
    }
    await output.finalize();
    const atSeconds = Math.min(Math.max(seconds - first.timestamp, 0), end);
    return { bytes: new Uint8Array(output.target.buffer!), atSeconds };
  });
}
