import { basename } from "node:path";
import type { SkippedFile } from "../../tools/media-files.ts";
import { sanitizeLine, wrapText } from "../../tools/terminal.ts";

/** Names that are listed for one reason. */
const MAX_NAMES = 5;

/** Formats the files that are left out, by what they are instead; empty without any. */
export function formatSkipped(skipped: readonly SkippedFile[]): string {
  if (skipped.length === 0) return "";
  const left =
    skipped.length === 1
      ? "1 file is left out, because it is"
      : `${skipped.length} files are left out, because they are`;
  const byContents = Map.groupBy(skipped, ({ contents }) => contents);
  const lines = [...byContents].map(([contents, group]) => {
    const names = group.slice(0, MAX_NAMES).map(({ path }) => sanitizeLine(basename(path)));
    const more = group.length - names.length;
    return `  ${contents}: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  });
  const all = [`${left} no video or image:`, ...lines];
  return all.map((line) => wrapText(line, "    ")).join("\n");
}
