import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Development's: the sample pack, and what bundles the console. */
const LEFT_OUT = /^tools\/(?:sample\/|bundle-console\.ts$)/;

/** Files of the project that a script consists of, and the packages that they import. */
export interface Sources {
  /** Paths in the project. */
  files: Set<string>;
  packages: Set<string>;
}

/**
 * Lists what scripts load or name: modules, scripts of other processes and threads, and data
 * beside them. Imports of types aren't loaded.
 */
export function traceSources(project: string, entries: readonly string[]): Sources {
  const files = new Set(entries);
  const packages = new Set<string>();
  for (const file of files) {
    if (!file.endsWith(".ts")) continue;
    const text = readFileSync(join(project, file), "utf8");
    for (const named of namedFiles(project, file, text)) files.add(named);
    for (const name of importedPackages(text)) packages.add(name);
  }
  return { files, packages };
}

/**
 * Changes the names of sources in a compiled file to those of the compiled files, which end in
 * `.js`: Node doesn't run TypeScript of packages.
 */
export function renameSources(code: string, isSource: (name: string) => boolean): string {
  return code.replace(/"([\w./-]+)\.ts"/g, (literal, name: string) =>
    isSource(`${name}.ts`) ? `"${name}.js"` : literal,
  );
}

/** Resolves a name in a source: relative to its folder, or to the project. */
export function resolveSource(project: string, file: string, name: string): string | null {
  const folder = join(project, dirname(file));
  for (const path of [join(folder, name), join(project, name)]) {
    if (existsSync(path)) return relative(project, path);
  }
  return null;
}

function namedFiles(project: string, file: string, text: string): string[] {
  const names = withoutTypes(text).matchAll(/"([\w./-]+\.(?:ts|json|bin|md))"/g);
  return [...names].flatMap(([, name]) => {
    const path = resolveSource(project, file, name!);
    return path === null || path.startsWith("..") || LEFT_OUT.test(path) ? [] : path;
  });
}

function importedPackages(text: string): string[] {
  const loads = /\b(?:from\s|import\s|import\(|require\(|packageFolder\()\s*"([^"]+)"/g;
  return [...withoutTypes(text).matchAll(loads)].flatMap(([, specifier]) => {
    if (/^(?:\.|node:|cloudflare:)/.test(specifier!)) return [];
    return /^(?:@[^/]+\/)?[^/]+/.exec(specifier!)![0];
  });
}

function withoutTypes(text: string): string {
  // bounded: a file of ours
  return text.replace(/^(?:import|export) type [^;]+;/gm, "");
}
