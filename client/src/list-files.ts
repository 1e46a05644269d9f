import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

/** The files of a path. */
export interface ListedFiles {
  /**
   * Real path of the folder that links must not lead out of: the path's own, or the one that a file
   * is in. Null if they may.
   */
  root: string | null;
  files: string[];
  links: SkippedPath[];
}

/** A file or link that is left out, and why: "leads nowhere". */
export interface SkippedPath {
  path: string;
  reason: string;
}

/**
 * What systems and programs keep beside films and photos, most of it small copies of them: hidden
 * files, and folders of Synology, QNAP, macOS and Windows.
 */
const SYSTEM_NAMES =
  /^(?:\..*|[@#](?:eaDir|recycle|Recently-Snapshot|snapshot)|__MACOSX|\$RECYCLE\.BIN|System Volume Information|(?:eh)?thumbs(?:_vista)?\.db|desktop\.ini)$/i;

/**
 * Lists a file, or the files below a folder but those of the system, each once. Links are followed
 * within the folder, or anywhere if `followsLinks`, after everything else. The path itself may be a
 * link. Throws if it doesn't exist.
 */
export async function listFiles(path: string, followsLinks = false): Promise<ListedFiles> {
  const real = await realpath(path);
  const isFolder = (await stat(real)).isDirectory();
  const root = followsLinks ? null : isFolder ? real : await realpath(dirname(path));
  if (!isFolder) return { root, files: [path], links: [] };
  const files = new Map<string, string>(); // by real path
  const folders = new Set<string>();
  const followed: string[] = [];
  const links: SkippedPath[] = [];
  const listFolder = async (folder: string, realFolder: string): Promise<void> => {
    if (folders.has(realFolder)) return;
    folders.add(realFolder);
    for (const child of await readdir(folder, { withFileTypes: true }).catch(listNothing)) {
      const [childPath, childReal] = [join(folder, child.name), join(realFolder, child.name)];
      if (SYSTEM_NAMES.test(child.name)) continue;
      if (child.isSymbolicLink()) followed.push(childPath);
      else if (child.isDirectory()) await listFolder(childPath, childReal);
      else if (child.isFile() && !files.has(childReal)) files.set(childReal, childPath);
    }
  };
  await listFolder(path, real);
  for (const link of followed) {
    const target = await realPathWithin(root, link);
    const entry = target === null ? null : await stat(target).catch(treatAsMissing);
    if (target === null || !entry) links.push(await describeLink(link));
    else if (entry.isDirectory()) await listFolder(link, target);
    else if (entry.isFile() && !files.has(target)) files.set(target, link);
  }
  return {
    root,
    files: [...files.values()].sort(),
    links: links.sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
}

/** Names files by their folders, from the listed path on, with `/`: `Trip/Day 1/a.jpg`. */
export function nameFiles(
  paths: readonly string[],
  lists: readonly Pick<ListedFiles, "files">[],
): Map<string, string> {
  const nameOf = (listed: string, file: string) =>
    relative(dirname(listed), file).replaceAll(sep, "/");
  return new Map(
    lists.flatMap(({ files }, i) => files.map((file) => [file, nameOf(paths[i]!, file)])),
  );
}

/** Returns the real path of a file or folder; null if it isn't there, or is outside of `root`. */
export async function realPathWithin(root: string | null, path: string): Promise<string | null> {
  const target = await realpath(path).catch(treatAsMissing);
  const folder = root === null || root.endsWith(sep) ? root : root + sep;
  return folder === null || target === root || target?.startsWith(folder) ? target : null;
}

/** Says why a link isn't followed. */
export async function describeLink(path: string): Promise<SkippedPath> {
  const target = await realpath(path).catch(treatAsMissing);
  return { path, reason: target === null ? "leads nowhere" : "leads out of its folder" };
}

/**
 * Whether writing to a path would write to a file outside of its folder, or make one. Devices and
 * pipes aren't files.
 */
export async function linksOutOfFolder(path: string): Promise<boolean> {
  const entry = await lstat(path).catch(treatAsMissing);
  if (!entry?.isSymbolicLink()) return false;
  if ((await realPathWithin(await realpath(dirname(path)), path)) !== null) return false;
  const target = await stat(path).catch(treatAsMissing);
  return target === null || target.isFile();
}

/** Treats what can't be looked up as what isn't there. */
function treatAsMissing(): null {
  return null;
}

/** Lists nothing of a folder that can't be read: it doesn't stop the others. */
function listNothing(): [] {
  return [];
}
