import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { MediaReader } from "../../local/engine/media-reader.ts";
import { openMedia } from "../../local/engine/media-source.ts";

/** Decodes a file from end to end, picture and sound, and does nothing with it. */
export interface Decoding {
  by: string;
  /** Resolves to the seconds for which processors worked. */
  decode: (path: string, signal: AbortSignal) => Promise<number>;
}

/** `ffmpeg -i FILE -f null -` where that is installed, else the engine's FFmpeg in this process. */
export async function findDecoding(): Promise<Decoding> {
  const installed = await run(["-version"]).catch(() => null);
  if (installed === null) return { by: "the engine's FFmpeg", decode: decodeHere };
  return {
    by: "ffmpeg",
    async decode(path, signal) {
      const told = await run(["-nostdin", "-benchmark", "-i", path, "-f", "null", "-"], signal);
      const [, user, system] = /utime=([\d.]+)s stime=([\d.]+)s/.exec(told) ?? [];
      return Number(user) + Number(system);
    },
  };
}

/** What it says to people. */
async function run(args: string[], signal?: AbortSignal): Promise<string> {
  const child = spawn("ffmpeg", args, {
    stdio: ["ignore", "ignore", "pipe"],
    ...(signal && { signal }),
  });
  const [told, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  if (code !== 0) throw new Error(`ffmpeg ${args.join(" ")}: ${told}`);
  return told;
}

async function decodeHere(path: string, signal: AbortSignal): Promise<number> {
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
    const reader = await MediaReader.open(source, stream, signal);
    for (let next = await reader.next(); next; next = await reader.next()) next.frame.free();
    reader.close();
  } finally {
    await source.close();
  }
}
