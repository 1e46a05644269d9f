import { readdir } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { describeLink, realPathWithin, type SkippedPath } from "./list-files.ts";
import { AMBIGUOUS, isTranscript } from "./transcript-content.ts";

/** Extensions of transcripts, the preferred ones first. */
const EXTENSIONS = [
  ...".srt .vtt .ass .ssa .ttml .dfxp .sbv .lrc .scc .stl".split(" "),
  ...AMBIGUOUS,
];
/** Parts of a name that say what subtitles are for, as in `film.en.sdh.srt`. */
const QUALIFIER = /^(?:default|orig(?:inal)?|sdh|cc|auto)$/i;
const ORIGINAL = /[.-](?:default|orig(?:inal)?)(?:\.|$)/i;
/** A tag of a language (BCP 47), as some write it: `pt_BR`. */
const LANGUAGE_TAG = /^([a-z]{2,3})(?:[_-][a-z\d]{1,8}){0,4}$/i;
const LANGUAGES = new Intl.DisplayNames("en", { type: "language", fallback: "none" });

/** A file beside a video that may be its transcript. */
interface Sidecar {
  path: string;
  /** Language that its name has. */
  language: string | undefined;
  /** Order of preference, the best one first. */
  rank: number;
}

/**
 * Finds the transcript of each video beside it: `film.srt`, `film.mp4.srt`, `film.en.srt`, in any
 * normal form of Unicode. `videos` has the folder that links must not lead out of. Of several
 * languages none is taken, because the film's isn't known, unless one is the original.
 */
export async function findTranscripts(
  videos: ReadonlyMap<string, string | null>,
): Promise<{ transcripts: Map<string, string>; skipped: SkippedPath[] }> {
  const sidecars = await listSidecars([...videos.keys()]);
  const transcripts = new Map<string, string>();
  const skipped = new Map<string, SkippedPath>();
  for (const [video, root] of videos) {
    const stem = withoutExtension(video);
    const usable: Sidecar[] = [];
    for (const name of new Set([stem.normalize(), video.normalize()])) {
      for (const sidecar of sidecars.get(name) ?? []) {
        const fault = await findFault(sidecar.path, root);
        if (fault === null) usable.push(sidecar);
        else if (fault.reason !== "") skipped.set(sidecar.path, fault);
      }
    }
    const order = ({ path, rank }: Sidecar) => (path.startsWith(stem) ? rank : rank + 3);
    const [best] = usable.sort((a, b) => order(a) - order(b));
    const isOnly = usable.every(({ language }) => language === best!.language);
    if (best && (isOnly || best.rank < 2)) transcripts.set(video, best.path);
    else {
      const reason = "is one of several languages: give that of the film its name alone";
      for (const { path } of usable) skipped.set(path, { path, reason });
    }
  }
  return { transcripts, skipped: [...skipped.values()] };
}

/** Lists what is beside videos by the longest of their names that its own begins with. */
async function listSidecars(videos: readonly string[]): Promise<Map<string, Sidecar[]>> {
  const names = videos.flatMap((path) => [path.normalize(), withoutExtension(path).normalize()]);
  const sidecars = new Map(names.map((name): [string, Sidecar[]] => [name, []]));
  for (const folder of new Set(videos.map((path) => dirname(path)))) {
    for (const child of (await readdir(folder).catch(listNothing)).sort(byExtension)) {
      const path = join(folder, child);
      const stem = withoutExtension(path).normalize();
      let name = stem;
      let language: string | undefined;
      while (!sidecars.has(name) && extname(name) !== "") {
        const part = extname(name).slice(1);
        const code = LANGUAGE_TAG.exec(part)?.[1];
        const named = code && LANGUAGES.of(code);
        if (!QUALIFIER.test(part) && named === undefined) break;
        if (!QUALIFIER.test(part)) language = named;
        name = withoutExtension(name);
      }
      const isOriginal = ORIGINAL.test(stem.slice(name.length));
      const rank = language === undefined ? 0 : isOriginal ? 1 : 2;
      if (orderOf(child) >= 0) sidecars.get(name)?.push({ path, language, rank });
    }
  }
  return sidecars;
}

/** Says why a file is skipped; null for a transcript. Other texts are skipped without a reason. */
async function findFault(path: string, root: string | null): Promise<SkippedPath | null> {
  if ((await realPathWithin(root, path)) === null) return describeLink(path);
  try {
    if (await isTranscript(path)) return null;
  } catch {
    return { path, reason: "can't be read" };
  }
  const isOther = AMBIGUOUS.includes(extname(path).toLowerCase());
  return { path, reason: isOther ? "" : "has no speech with times" };
}

/** Orders names by extension, then the shorter ones first. */
function byExtension(a: string, b: string): number {
  return orderOf(a) - orderOf(b) || a.length - b.length || (a < b ? -1 : 1);
}

function orderOf(path: string): number {
  return EXTENSIONS.indexOf(extname(path).toLowerCase());
}

function withoutExtension(path: string): string {
  return path.slice(0, path.length - extname(path).length);
}

/** Lists nothing of a folder that can't be read: it doesn't stop the others. */
function listNothing(): [] {
  return [];
}
