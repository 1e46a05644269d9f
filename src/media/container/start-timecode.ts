import { formatTimecode } from "../timecode.ts";
import { findBox, findMoov, type RangedFile, readContent, readHandler } from "./mp4-boxes.ts";

/** Flag of a timecode track whose frame numbers are dropped. */
const DROP_FRAME = 1;

/**
 * Reads the timecode of the first frame of an MP4 or QuickTime file from its track `tmcd`
 * (QuickTime File Format, "Timecode media"), such as `10:00:00:00`, with `;` if it drops frame
 * numbers; nothing without one.
 */
export async function readStartTimecode(file: RangedFile): Promise<{ start_timecode?: string }> {
  const moov = await findMoov(file);
  for (const track of moov?.children.filter(({ type }) => type === "trak") ?? []) {
    if ((await readHandler(file, track)) !== "tmcd") continue;
    const [description, chunks] = ["stsd", "stco"].map((type) =>
      findBox(track, "mdia", "minf", "stbl", type),
    );
    const wide = findBox(track, "mdia", "minf", "stbl", "co64");
    if (!description || !(chunks ?? wide)) return {};
    const entry = await readContent(file, description, 8, 48);
    const offset = await readContent(file, (chunks ?? wide)!, 8, 16);
    if (entry.byteLength < 33 || offset.byteLength < (wide ? 8 : 4)) return {};
    const at = chunks ? offset.getUint32(0) : Number(offset.getBigUint64(0));
    const sample = Buffer.from(await file.read(at, at + 4));
    const fps = entry.getUint32(24) / entry.getUint32(28);
    if (sample.length < 4 || !(fps >= 1 && fps <= 1000)) return {};
    const isDropFrame = (entry.getUint32(20) & DROP_FRAME) !== 0;
    return { start_timecode: formatTimecode(fps, sample.readUInt32BE(0), isDropFrame) };
  }
  return {};
}
