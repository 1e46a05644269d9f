/** An entry of `package-lock.json`, by its folder. */
interface LockedPackage {
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  [field: string]: unknown;
}

export type LockedPackages = Readonly<Record<string, LockedPackage>>;

/** A package of its own, with its dependencies at exact versions. */
interface RootPackage {
  name: string;
  version: string;
  engines: Record<string, string>;
  dependencies: Record<string, string>;
}

/**
 * Returns the packages of a lockfile for a root package: its dependencies, and what they need, as
 * they are locked. Throws if one is missing.
 */
export function pruneLock(
  locked: LockedPackages,
  root: RootPackage,
): Record<string, LockedPackage> {
  const required = findReachable(locked, Object.keys(root.dependencies), false);
  const all = findReachable(locked, Object.keys(root.dependencies), true);
  const { name, version, engines, dependencies } = root;
  const entries = [...all].toSorted().map((folder) => {
    const { dev: _dev, devOptional: _either, optional: _optional, ...entry } = locked[folder]!;
    return [folder, required.has(folder) ? entry : { ...entry, optional: true }] as const;
  });
  return { "": { name, version, engines, dependencies }, ...Object.fromEntries(entries) };
}

/** Returns the folders of packages and of what they need, with optional dependencies or without. */
function findReachable(
  locked: LockedPackages,
  names: readonly string[],
  withOptional: boolean,
): Set<string> {
  const found = new Set<string>();
  const add = (name: string, dependent: string, isOptional: boolean): void => {
    const folder = resolveFolder(locked, name, dependent);
    if (folder === null) {
      if (isOptional) return;
      throw new Error(`package-lock.json has no ${name}, which ${dependent || "this"} needs.`);
    }
    if (found.has(folder)) return;
    found.add(folder);
    const entry = locked[folder]!;
    for (const one of requiredBy(entry)) add(one, folder, false);
    if (!withOptional) return;
    for (const one of Object.keys(entry.optionalDependencies ?? {})) add(one, folder, true);
  };
  for (const name of names) add(name, "", false);
  return found;
}

function requiredBy(entry: LockedPackage): string[] {
  const peers = Object.keys(entry.peerDependencies ?? {}).filter(
    (name) => !entry.peerDependenciesMeta?.[name]?.optional,
  );
  return [...Object.keys(entry.dependencies ?? {}), ...peers];
}

/** Finds the folder that Node resolves a package to, from the folder of a package; else null. */
function resolveFolder(locked: LockedPackages, name: string, dependent: string): string | null {
  for (let from = dependent; ;) {
    const folder = `${from === "" ? "" : `${from}/`}node_modules/${name}`;
    if (folder in locked) return folder;
    if (from === "") return null;
    const parent = from.lastIndexOf("/node_modules/");
    from = parent === -1 ? "" : from.slice(0, parent);
  }
}
