import { readFile, writeFile } from "node:fs/promises";
import { measurePeaks, type PeakRequest } from "./audio-peaks.ts";
import { readAudio } from "./audio-samples.ts";
import { convertImage } from "./convert-image.ts";
import { type PartRequest, writePart } from "./convert-part.ts";
import { type EngineErrorCode, toEngineError } from "./errors.ts";
import { blockOtherLoaders } from "./image.ts";
import { measureMedia } from "./measure-media.ts";
import { type AudioRequest, type ClipRequest, writeAudio, writeClip } from "./media-clip.ts";
import {
  type ContactSheetRequest,
  extractFrame,
  type FrameRequest,
  renderContactSheet,
} from "./media-frame.ts";
import { probeMedia } from "./media-probe.ts";

/**
 * What the process does with the file at `path`, by name. Bytes are written to `target`; the value
 * is sent to the parent.
 */
const TASKS = {
  async image(path: string, target: string, side: number) {
    const { bytes, ...size } = await convertImage(path, side);
    await writeFile(target, bytes);
    return size;
  },
  async heif(path: string, target: string) {
    const { decodeHeif } = await import("./heif.ts");
    await writeFile(target, await decodeHeif(await readFile(path)));
  },
  async heifSize(path: string) {
    const { readHeifSize } = await import("./heif.ts");
    return readHeifSize(await readFile(path));
  },
  probe: (path: string) => probeMedia(path),
  async frame(path: string, target: string, request: FrameRequest) {
    const { bytes, ...frame } = await extractFrame(path, request);
    await writeFile(target, bytes);
    return frame;
  },
  async sheet(path: string, target: string, request: ContactSheetRequest) {
    const { bytes, ...sheet } = await renderContactSheet(path, request);
    await writeFile(target, bytes);
    return sheet;
  },
  clip: (path: string, target: string, request: ClipRequest) => writeClip(path, target, request),
  audio: (path: string, target: string, request: AudioRequest) => writeAudio(path, target, request),
  async peaks(path: string, target: string, request: PeakRequest) {
    await writeFile(target, await measurePeaks(path, request));
  },
  async samples(path: string, target: string) {
    await writeFile(target, await readAudio(path));
  },
  measure: (path: string) => measureMedia(path),
  part: (path: string, target: string, request: PartRequest) => writePart(path, target, request),
};

type Tasks = typeof TASKS;
export type TaskName = keyof Tasks;
/** What a task is told beside its file; undefined if it needs nothing. */
export type TaskRequest<Name extends TaskName> = Parameters<Tasks[Name]>[2];
export type TaskValue<Name extends TaskName> = Awaited<ReturnType<Tasks[Name]>>;

export interface TaskMessage {
  name: TaskName;
  path: string;
  target: string;
  request: unknown;
}

/** The end of a task. */
export interface TaskReply {
  result: { value: unknown } | { error: { code: EngineErrorCode; message: string } };
  /** Whether the process can take another task. Not after a failure of a library. */
  isIntact: boolean;
  residentBytes: number;
}

async function run({ name, path, target, request }: TaskMessage): Promise<TaskReply> {
  const task: (path: string, target: string, request: never) => Promise<unknown> = TASKS[name];
  try {
    const value = await task(path, target, request as never);
    return { result: { value }, isIntact: true, residentBytes: process.memoryUsage.rss() };
  } catch (error) {
    const { code, message, cause } = toEngineError(error);
    const isIntact = cause === undefined;
    return {
      result: { error: { code, message } },
      isIntact,
      residentBytes: process.memoryUsage.rss(),
    };
  }
}

blockOtherLoaders();
process.on("message", (message: TaskMessage) => {
  void run(message).then((reply) => process.send!(reply));
});
process.on("disconnect", () => process.exit());
