import { AppError } from "../../errors.ts";
import { findBox, findMoov, type RangedFile, readContent, readFourCc } from "./mp4-boxes.ts";

/** Sample entries of encrypted tracks: Common Encryption (ISO/IEC 23001-7), and FairPlay. */
const ENCRYPTED = new Set(["encv", "enca", "drmi", "drms"]);
/** Where the type of the first sample entry is in a box `stsd`. */
const ENTRY_TYPE = 12;

/** Throws `unsupported_codec` for an MP4 with an encrypted track, as bought films have. */
export async function requireUnencrypted(file: RangedFile): Promise<void> {
  const moov = await findMoov(file);
  for (const track of moov?.children.filter(({ type }) => type === "trak") ?? []) {
    const descriptions = findBox(track, "mdia", "minf", "stbl", "stsd");
    if (!descriptions) continue;
    const view = await readContent(file, descriptions, 0, ENTRY_TYPE + 4);
    if (view.byteLength < ENTRY_TYPE + 4 || !ENCRYPTED.has(readFourCc(view, ENTRY_TYPE))) continue;
    throw new AppError(
      "unsupported_codec",
      "The video is encrypted (DRM), as bought and rented films are, and can't be decoded. " +
        "Send a copy without protection.",
    );
  }
}
