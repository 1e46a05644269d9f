import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { MediaReader } from "../../local/engine/media-reader.ts";
import { openMedia } from "../../local/engine/media-source.ts";

/** Decodes the video and audio of a file from start to end, and discards the frames. */
export interface Decoder {
  name: string;
  /** Returns the CPU seconds used. */
  decode: (path: string, signal: AbortSignal) => Promise<number>;
}

/**
 * Returns `ffmpeg -i FILE -f null -` if FFmpeg is installed, else the engine's FFmpeg in this
 * process.
 */
export async function findDecoder(): Promise<Decoder> {
  const installed = await run(["-version"]).catch(() => null);
  if (installed === null) return { name: "the engine's FFmpeg", decode: decodeInProcess };
  return {
    name: "ffmpeg",
    async decode(path, signal) {
      const output = await run(["-nostdin", "-benchmark", "-i", path, "-f", "null", "-"], signal);
      const [, user, system] = /utime=([\d.]+)s stime=([\d.]+)s/.exec(output) ?? [];
      return Number(user) + Number(system);
    },
  };
}

/** Runs ffmpeg and returns its stderr. */
async function run(args: string[], signal?: AbortSignal): Promise<string> {
  const child = spawn("ffmpeg", args, {
    stdio: ["ignore", "ignore", "pipe"],
    ...(signal && { signal }),
  });
  const [output, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  if (code !== 0) throw new Error(`ffmpeg ${args.join(" ")}: ${output}`);
  return output;
}

async function decodeInProcess(path: string, signal: AbortSignal): Promise<number> {
  const before = process.cpuUsage();
  await Promise.all([decodeStream(path, "video", signal), decodeStream(path, "audio", signal)]);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function decodeStream(path: string, kind: "video" | "audio", signal: AbortSignal) {
  const source = await openMedia(path);
  try {
    const { [kind]: stream } = source;
    if (!stream) return;
    const reader = await MediaReader.open(source, stream);
    for (let next = await reader.next(); next; next = await reader.next()) {
      next.frame.free();
      signal.throwIfAborted();
    }
    reader.close();
  } finally {
    await source.close();
  }
}
