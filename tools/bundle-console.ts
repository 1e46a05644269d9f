import { cp, glob, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";

/** Folder of the bundles, whose names change with their contents. */
const BUILT = "console/built";
/** Modules that are loaded one after the other; what they import becomes one file each. */
const STAGES = ["console/console.js", "console/workspace.js"];

// bounded: our own pages
const STYLESHEETS = /(?:\s*<link rel="stylesheet" href="\/(?!console\/packages\/)([^"]+)" \/>)+/;
const MODULE = /<script type="module" src="\/([^"]+)"><\/script>/;

const OPTIONS = {
  bundle: true,
  minify: true,
  sourcemap: "linked",
  target: "es2023",
  format: "esm",
  logLevel: "warning",
  metafile: true,
} satisfies BuildOptions;

/**
 * Bundles the pages of the console in a folder to `target`: the stylesheets of a page
 * become one, and its modules one and some that are loaded later, all with source maps. Everything
 * else is copied.
 */
export async function bundleConsole(folder: string, target: string): Promise<void> {
  const source = await realpath(folder); // as esbuild names files
  await rm(target, { recursive: true, force: true });
  const rest = new Set(["_headers"]);
  for await (const name of glob("*.html", { cwd: source })) {
    let html = await readFile(join(source, name), "utf8");
    const [links, sheet] = STYLESHEETS.exec(html) ?? [];
    if (links !== undefined && sheet !== undefined) {
      const url = await bundleStyles(source, target, links);
      html = html.replace(links, `\n    <link rel="stylesheet" href="${url}" />`);
    }
    const [script, entry] = MODULE.exec(html) ?? [];
    if (script !== undefined && entry !== undefined) {
      const [url, ...chunks] = await bundleModules(source, target, entry);
      const preloads = chunks.map((chunk) => `<link rel="modulepreload" href="${chunk}" />`);
      const lines = [...preloads, script.replace(`/${entry}`, url!)];
      html = html.replace(script, lines.join("\n    "));
    }
    const named = html.matchAll(/(?:src|href)="\/(console\/(?:packages\/[^/]+|[\w-]+\.\w+))/g);
    for (const [, path] of named) rest.add(path!); // a package with its licence
    if (!html.includes("<pre")) html = html.replaceAll(/\n\s+/g, "\n");
    await mkdir(target, { recursive: true });
    await writeFile(join(target, name), html);
  }
  for (const path of rest) {
    await mkdir(dirname(join(target, path)), { recursive: true });
    await cp(join(source, path), join(target, path), { recursive: true });
  }
}

/** Bundles the stylesheets of some links. Returns the URL of the bundle. */
async function bundleStyles(source: string, target: string, links: string): Promise<string> {
  const sheets = [...links.matchAll(/href="\/([^"]+)"/g)].map(([, path]) => `@import "./${path}";`);
  const { metafile } = await build({
    ...OPTIONS,
    absWorkingDir: source,
    outdir: join(target, BUILT),
    stdin: { contents: sheets.join("\n"), loader: "css", resolveDir: source },
    entryNames: "styles-[hash]",
  });
  return urlOf(Object.keys(metafile.outputs).find((path) => path.endsWith(".css"))!);
}

/** Bundles a module. Returns its URL and those of the chunks that it imports. */
async function bundleModules(source: string, target: string, entry: string): Promise<string[]> {
  const options = {
    ...OPTIONS,
    absWorkingDir: source,
    outdir: join(target, BUILT),
    entryPoints: [entry],
    splitting: true,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
  };
  const plan = await build({ ...options, write: false });
  const plugins = [importStages(source, plan.metafile.inputs)];
  const { metafile } = await build({ ...options, plugins });
  const { outputs } = metafile;
  const output = Object.keys(outputs).find((path) => outputs[path]!.entryPoint === entry)!;
  return staticImports(outputs, output).map(urlOf);
}

/**
 * Lets the modules that are loaded later import the stages that were loaded before them. All that a
 * stage imports is then shared by the same modules, and so it is one chunk instead of a dozen.
 */
function importStages(source: string, inputs: Metafile["inputs"]): Plugin {
  const stages = STAGES.filter((stage) => stage in inputs);
  const loaded = stages.map((stage) => new Set(staticImports(inputs, stage)));
  const added = new Map<string, string[]>();
  loaded.forEach((modules, i) => {
    const lazy = [...modules]
      .flatMap((path) => inputs[path]!.imports)
      .filter(({ kind }) => kind === "dynamic-import");
    for (const { path } of lazy) added.set(path, stages.slice(0, i + 1));
  });
  return {
    name: "stages",
    setup(build) {
      build.onLoad({ filter: /\.js$/ }, async ({ path }) => {
        const stagesBefore = added.get(path.slice(source.length + 1).replaceAll("\\", "/")) ?? [];
        const imports = stagesBefore.map(
          (stage) => `import ${JSON.stringify(join(source, stage))};`,
        );
        return { contents: [await readFile(path, "utf8"), ...imports].join("\n") };
      });
    },
  };
}

type Graph = Record<string, { imports: { path: string; kind: string }[] }>;

/** Lists a file, the files that it imports, and those that they import, without lazy ones. */
function staticImports(graph: Graph, first: string): string[] {
  const found = new Set([first]);
  for (const path of found) {
    for (const { path: imported, kind } of graph[path]!.imports) {
      if (kind === "import-statement") found.add(imported);
    }
  }
  return [...found];
}

function urlOf(output: string): string {
  return `/${BUILT}/${output.split(`${BUILT}/`).at(-1)}`;
}
