import { expect, it } from "vitest";
import { type LockedPackages, pruneLock } from "../../scripts/decoder/prune-lock.ts";

const LOCKED: LockedPackages = {
  "": { dependencies: { a: "1.0.0", other: "1.0.0" } },
  "node_modules/a": {
    dev: true,
    version: "1.0.0",
    dependencies: { b: "^1.0.0" },
    optionalDependencies: { extra: "1.0.0", elsewhere: "1.0.0" },
    peerDependencies: { peer: "1.0.0", unused: "1.0.0" },
    peerDependenciesMeta: { unused: { optional: true } },
  },
  "node_modules/a/node_modules/b": { version: "1.5.0", dependencies: { c: "1.0.0" } },
  "node_modules/b": { version: "2.0.0" },
  "node_modules/c": { version: "1.0.0", devOptional: true },
  "node_modules/extra": { version: "1.0.0", dev: true },
  "node_modules/peer": { version: "1.0.0" },
  "node_modules/other": { version: "1.0.0" },
};
const ROOT = { name: "root", version: "1.0.0", engines: {}, dependencies: { a: "1.0.0" } };

it("a pruned lockfile has what a package needs, nested as Node finds it, and nothing else", () => {
  const { "": root, ...packages } = pruneLock(LOCKED, ROOT);
  expect(root).toEqual(ROOT);
  expect(packages).toEqual({
    "node_modules/a": { ...LOCKED["node_modules/a"], dev: undefined },
    "node_modules/a/node_modules/b": LOCKED["node_modules/a/node_modules/b"],
    "node_modules/c": { version: "1.0.0" },
    "node_modules/extra": { version: "1.0.0", optional: true },
    "node_modules/peer": { version: "1.0.0" },
  });
});

it("a lockfile without a package that is needed can't be pruned", () => {
  const { "node_modules/c": _, ...incomplete } = LOCKED;
  expect(() => pruneLock(incomplete, ROOT)).toThrow("package-lock.json has no c, which");
});
