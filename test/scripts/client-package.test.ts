import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "sightline-package-"));
const unpacked = join(folder, "package");
const tsc = join(root, "node_modules/.bin/tsc");
let files: string[];

const DEPENDENCIES = ["eventsource-parser", "file-type"];

interface Manifest {
  version: string;
  exports: Record<string, { types: string; default: string }>;
  bin: Record<string, string>;
  dependencies: Record<string, string>;
}
const manifest: Manifest = JSON.parse(readFileSync(join(root, "client/package.json"), "utf8"));

function run(command: string, args: string[], cwd = root): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

/** Builds the package from a copy of its sources, because other tests import the built one. */
beforeAll(() => {
  const sources = join(folder, "sources");
  const client = join(sources, "client");
  cpSync(join(root, "client"), client, {
    recursive: true,
    filter: (path) => !/\/client\/(?:dist|node_modules)$/.test(path),
  });
  symlinkSync(join(root, "node_modules"), join(sources, "node_modules"));
  run(tsc, ["-p", client]);
  run("npm", ["pack", client, "--pack-destination", folder]);
  const archive = readFileSync(join(folder, `sightline-${manifest.version}.tgz`));
  writeFileSync(join(folder, "package.tar"), gunzipSync(archive)); // tar would call gzip
  run("tar", ["-xf", "package.tar"], folder);
  files = readdirSync(unpacked, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(unpacked.length + 1));
});
afterAll(() => rmSync(folder, { recursive: true }));

it("the package of the client has every file that its exports and its command name", () => {
  const { exports, bin } = manifest;
  const named = [...Object.values(exports).flatMap(Object.values<string>), ...Object.values(bin)];
  expect(
    named.map((path) => path.replace(/^\.\//, "")).filter((path) => !files.includes(path)),
  ).toEqual([]);
  expect(files).toContain("README.md");
});

it("the package of the client has nothing that only its development needs", () => {
  const others = files.filter((file) => !/^(dist|bin)\/.*\.js$|^dist\/.*\.d\.ts$/.test(file));
  expect(others.sort()).toEqual(["LICENSE", "README.md", "package.json"]);
  expect(Object.keys(manifest.dependencies)).toEqual(DEPENDENCIES);
});

it("the package of the client imports nothing outside itself but its dependencies and Node", () => {
  const imported = files
    .filter((file) => file.endsWith(".js"))
    .flatMap((file) => {
      const text = readFileSync(join(unpacked, file), "utf8");
      return [...text.matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)"/gm)].map(
        ([, name]) => name!,
      );
    });
  const others = imported.filter((name) => !name.startsWith(".") && !name.startsWith("node:"));
  expect([...new Set(others)].toSorted()).toEqual(DEPENDENCIES);
});

it("the package of the client can be used and type-checked where it is installed", () => {
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  symlinkSync(unpacked, join(modules, "sightline"));
  mkdirSync(join(unpacked, "node_modules"));
  for (const name of DEPENDENCIES) {
    symlinkSync(join(root, "node_modules", name), join(unpacked, "node_modules", name));
  }
  const script = `
    import { NotFoundError, Sightline } from "sightline";
    import { openFile } from "sightline/node";
    const file = await openFile("package/README.md");
    const sightline = new Sightline({ url: "http://localhost:1", apiKey: "", maxRetries: 0 });
    const error = await sightline.stats().catch((reason) => reason);
    console.log(file.name, file.size > 0, error.name, NotFoundError.name);`;
  const output = run(process.execPath, ["--input-type=module", "--eval", script], folder);
  expect(output).toBe("README.md true ConnectionError NotFoundError\n");
  const typed = `
    import { type Asset, Sightline } from "sightline";
    const index = new Sightline({ url: "", apiKey: "" }).index("a");
    const page: { items: Asset[] } = await index.assets({ state: "ready" });
    const { segments } = await index.search({ query: "boat", top_k: 5 });
    export const score: number | undefined = segments[0]?.score;
    // @ts-expect-error -- an asset has no such field
    page.items[0]?.colour;`;
  writeFileSync(join(folder, "typed.mts"), typed);
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext"];
  run(tsc, [...options, "--target", "es2022", "--lib", "es2022,dom", "typed.mts"], folder);
});
