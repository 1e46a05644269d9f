import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type LockedPackages, pruneLock } from "./prune-lock.ts";

const PROJECT = join(import.meta.dirname, "../..");
const ENGINE = join(PROJECT, "local/engine");
const ENTRY = "media-server.ts";
/** Folder of the sources in the decoder's folder. */
const SOURCES = "engine";

/** What the decoder's folder and its image consist of. */
export interface DecoderContents {
  /** Names of the source files in `local/engine/`: the entry, and what it loads. */
  sources: string[];
  /** Versions by name of the packages that they import. */
  dependencies: Record<string, string>;
}

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** Lists the contents by the imports of the sources. Throws if a package isn't the project's. */
function listContents(): DecoderContents {
  const manifest: Manifest = JSON.parse(readProject("package.json"));
  const versions = { ...manifest.devDependencies, ...manifest.dependencies };
  const sources = new Set<string>();
  const packages = new Set<string>();
  const add = (name: string): void => {
    if (sources.has(name)) return;
    sources.add(name);
    const { files, imported } = readReferences(readProject(`local/engine/${name}`));
    for (const one of imported) packages.add(one);
    for (const file of files) if (existsSync(join(ENGINE, file))) add(file);
  };
  add(ENTRY);
  const dependencies = [...packages].toSorted().map((name) => {
    const version = versions[name];
    if (version === undefined) throw new Error(`package.json has no version of ${name}.`);
    return [name, version] as const;
  });
  return { sources: [...sources].toSorted(), dependencies: Object.fromEntries(dependencies) };
}

/**
 * Returns what a source refers to when it runs: the files that it names, also those that it starts
 * as a thread or a process, and the packages that it imports. Imports of types aren't loaded.
 */
function readReferences(text: string): { files: string[]; imported: string[] } {
  // bounded: a file of ours
  const loaded = text.replace(/^(?:import|export) type [^;]+;/gm, "");
  const specifiers = [...loaded.matchAll(/\b(?:from\s|import\s|import\()\s*"([^"]+)"/g)];
  const files = [...loaded.matchAll(/"(?:\.\/)?([\w/-]+\.ts)"/g)].map(([, file]) => file!);
  const imported = specifiers.flatMap(([, specifier]) => {
    if (/^(?:\.|node:)/.test(specifier!)) return [];
    return /^(?:@[^/]+\/)?[^/]+/.exec(specifier!)![0];
  });
  return { files, imported };
}

/**
 * Writes the decoder's folder: its sources, and a `package.json` and a lockfile with only their
 * packages, at the versions of the project. `npm ci --ignore-scripts` completes it; `npm start`
 * then runs it. Throws if the folder isn't empty.
 */
export async function writeDecoder(folder: string): Promise<DecoderContents> {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} isn't empty.`);
  const contents = listContents();
  const { devDependencies }: Manifest = JSON.parse(readProject("package.json"));
  const lock: { packages: LockedPackages } = JSON.parse(readProject("package-lock.json"));
  const manifest = {
    name: "sightline-decoder",
    version: "0.1.0",
    private: true,
    type: "module",
    engines: { node: `>=${devDependencies["node"]}` },
    scripts: { start: `node ${SOURCES}/${ENTRY}` },
    dependencies: contents.dependencies,
  };
  await mkdir(join(folder, SOURCES));
  for (const name of contents.sources) {
    await mkdir(join(folder, SOURCES, dirname(name)), { recursive: true });
    await cp(join(ENGINE, name), join(folder, SOURCES, name));
  }
  await writeJson(join(folder, "package.json"), manifest);
  await writeJson(join(folder, "package-lock.json"), {
    name: manifest.name,
    version: manifest.version,
    lockfileVersion: 3,
    requires: true,
    packages: pruneLock(lock.packages, manifest),
  });
  return contents;
}

function readProject(file: string): string {
  return readFileSync(join(PROJECT, file), "utf8");
}

export function writeJson(path: string, value: object): Promise<void> {
  return writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
}
