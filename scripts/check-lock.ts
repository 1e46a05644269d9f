/** An entry of `package-lock.json`, by its folder. */
type LockEntry = { integrity?: string; link?: boolean };

/** Returns a sentence for each locked package that `npm ci` installs without checking its hash. */
export function findUncheckedPackages(packages: Record<string, LockEntry>): string[] {
  return Object.entries(packages).flatMap(([folder, { integrity = "", link = false }]) => {
    const isOurs = link || !folder.includes("node_modules/");
    const isChecked = isOurs || /^sha512-[\w+/]{86}==$/.test(integrity);
    return isChecked ? [] : [`package-lock.json has no SHA-512 hash of ${folder}`];
  });
}
