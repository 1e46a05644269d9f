import { FilterAPI } from "node-av/api";
import type { Frame } from "node-av/lib";
import { listAudioFrames } from "./audio-samples.ts";
import { EngineError } from "./errors.ts";
import { MediaReader } from "./media-reader.ts";
import { openMedia } from "./media-source.ts";

/** Cells of equal length. Times are seconds; `start` is that of the first cell, and may be < 0. */
export interface PeakRequest {
  start: number;
  step: number;
  count: number;
}

/**
 * Decodes a file's audio and measures the largest absolute amplitude in each cell, over all
 * channels: a byte each, 255 at full scale. Cells without audio have 0. Errors:
 * `undecodable_media`, `no_audio`.
 */
export async function measurePeaks(path: string, request: PeakRequest): Promise<Uint8Array> {
  const source = await openMedia(path);
  try {
    if (!source.audio) throw new EngineError("no_audio", "The file has no audio.");
    const reader = await MediaReader.open(source, source.audio);
    using filter = FilterAPI.create("aformat=sample_fmts=flt");
    const peaks = new Float32Array(request.count);
    let isDecoded = false;
    try {
      for await (const frame of filter.frames(listAudioFrames(reader))) {
        if (!frame) continue;
        isDecoded = true;
        addFrame(frame, request, peaks);
        frame.free();
      }
    } finally {
      reader.close();
    }
    if (!isDecoded) throw new EngineError("undecodable_media", "The audio can't be decoded.");
    return Uint8Array.from(peaks, (peak) => Math.round(Math.min(1, peak) * 255));
  } finally {
    await source.close();
  }
}

/** Raises the peaks of the cells that the samples of a frame, interleaved, lie in. */
function addFrame(frame: Frame, { start, step, count }: PeakRequest, peaks: Float32Array): void {
  const { nbSamples, channels, sampleRate, pts, timeBase } = frame;
  const bytes = frame.toBuffer();
  const samples = new DataView(bytes.buffer, bytes.byteOffset, nbSamples * channels * 4);
  const seconds = (Number(pts) * timeBase.num) / timeBase.den - start;
  for (let i = 0; i < nbSamples; i++) {
    const cell = Math.floor((seconds + i / sampleRate) / step);
    if (cell < 0 || cell >= count) continue;
    for (let channel = 0; channel < channels; channel++) {
      const amplitude = Math.abs(samples.getFloat32((i * channels + channel) * 4, true));
      if (amplitude > peaks[cell]!) peaks[cell] = amplitude;
    }
  }
}
