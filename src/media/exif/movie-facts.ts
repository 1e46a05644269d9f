import { findMoov, type Mp4Box, type RangedFile, readContent } from "../container/mp4-boxes.ts";
import { type CaptureFacts, toCoordinates, toTime, withoutNulls } from "./capture-facts.ts";

/** Seconds from 1904, the zero of QuickTime, to 1970. */
const QUICKTIME_EPOCH_SECONDS = 2_082_844_800;
/** Bytes of user data that are searched for a place. */
const MAX_USER_BYTES = 64 * 1024;
/** A place by ISO 6709 after its name, as in `©xyz` of Android and `….ISO6709` of Apple. */
const PLACE =
  /(?:\xa9xyz|location\.ISO6709)[^]*?([+-]\d{2}(?:\.\d{1,9})?)([+-]\d{3}(?:\.\d{1,9})?)([+-]\d{1,6}(?:\.\d{1,9})?)?(?:CRS\w{1,20})?\//;

/** Reads when and where an MP4 or QuickTime file was taken; nothing of other files. */
export async function readMovieFacts(file: RangedFile): Promise<CaptureFacts> {
  const moov = await findMoov(file);
  if (!moov) return {};
  const { latitude, longitude, altitude } = await readPlace(file, moov);
  return withoutNulls({
    taken_at: await readCreation(file, moov),
    ...toCoordinates(latitude, longitude, altitude),
  });
}

/** Reads the creation time (ISO/IEC 14496-12, 8.2.2). Writers that know none put zero. */
async function readCreation(file: RangedFile, moov: Mp4Box): Promise<string | null> {
  const header = moov.children.find(({ type }) => type === "mvhd");
  const view = header && (await readContent(file, header, 0, 12));
  if (view?.byteLength !== 12) return null;
  const seconds = view.getUint8(0) === 1 ? Number(view.getBigUint64(4)) : view.getUint32(4);
  return seconds > QUICKTIME_EPOCH_SECONDS
    ? toTime((seconds - QUICKTIME_EPOCH_SECONDS) * 1000)
    : null;
}

async function readPlace(file: RangedFile, moov: Mp4Box) {
  for (const box of moov.children) {
    if (box.type !== "udta" && box.type !== "meta") continue;
    const { buffer, byteOffset, byteLength } = await readContent(file, box, 0, MAX_USER_BYTES);
    const text = Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
    const [, latitude, longitude, altitude = NaN] = PLACE.exec(text) ?? [];
    if (latitude === undefined) continue;
    return {
      latitude: Number(latitude),
      longitude: Number(longitude),
      altitude: Number(altitude),
    };
  }
  return { latitude: NaN, longitude: NaN, altitude: NaN };
}
