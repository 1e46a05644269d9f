import type { Encoder } from "node-av/api";
import { Dictionary, FFmpegError, FormatContext, type Packet } from "node-av/lib";

/** An encoder and its packets, terminated by null. */
export interface EncodedTrack {
  encoder: Encoder;
  packets: AsyncGenerator<Packet | null, void>;
}

interface OutputTrack extends EncodedTrack {
  index: number;
  /** The next packet; null at the end. */
  head: Packet | null;
}

/**
 * Writes tracks interleaved by time, with the index in front. Tracks begin at zero. Throws
 * `FFmpegError`.
 */
export async function writeMediaFile(
  target: string,
  format: "mp4" | "ipod",
  tracks: readonly EncodedTrack[],
): Promise<void> {
  const output = new FormatContext();
  const outputs: OutputTrack[] = [];
  check(output.allocOutputContext2(null, format, target));
  try {
    for (const track of tracks) outputs.push(await addTrack(output, track));
    check(await output.openOutput());
    using options = Dictionary.fromObject({ movflags: "+faststart" });
    check(await output.writeHeader(options));
    for (let track = findEarliest(outputs); track; track = findEarliest(outputs)) {
      await writeHead(output, track);
      track.head = await takePacket(track);
    }
    check(await output.writeTrailer());
  } finally {
    for (const { head } of outputs) head?.free();
    await output.closeOutput();
    output.freeContext();
  }
}

/** Adds a stream. An encoder knows its parameters only after its first packet. */
async function addTrack(output: FormatContext, track: EncodedTrack): Promise<OutputTrack> {
  const head = await takePacket(track);
  const context = track.encoder.getCodecContext();
  if (!head || !context) throw new Error("The encoder gave no packet.");
  const stream = output.newStream();
  check(stream.codecpar.fromContext(context));
  stream.timeBase = context.timeBase;
  stream.avgFrameRate = context.framerate;
  return { ...track, index: stream.index, head };
}

async function writeHead(output: FormatContext, { head, index, encoder }: OutputTrack) {
  const stream = output.streams[index];
  const context = encoder.getCodecContext();
  if (!head || !stream || !context) return;
  head.rescaleTs(context.timeBase, stream.timeBase);
  head.streamIndex = index;
  check(await output.interleavedWriteFrame(head));
  head.free();
}

async function takePacket({ packets }: EncodedTrack): Promise<Packet | null> {
  const next = await packets.next();
  return next.done ? null : next.value;
}

function findEarliest(tracks: readonly OutputTrack[]): OutputTrack | undefined {
  const waiting = tracks.filter((track) => track.head);
  return waiting.toSorted((a, b) => toSeconds(a) - toSeconds(b))[0];
}

function toSeconds({ head, encoder }: OutputTrack): number {
  const base = encoder.getCodecContext()?.timeBase;
  return head && base ? (Number(head.dts) * base.num) / base.den : Infinity;
}

function check(code: number): void {
  FFmpegError.throwIfError(code, "Writing failed");
}
