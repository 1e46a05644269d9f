import { dirname, join } from "node:path";

/** Source text by path from the project's root. */
export type Sources = ReadonlyMap<string, string>;

/**
 * The layers of `src/`, lowest first. A file imports from its own part and from lower layers. Parts
 * of one layer don't import each other, but for those of the ground layer.
 */
const LAYERS: readonly (readonly string[])[] = [
  [
    "bounded-list",
    "byte-source",
    "clean-text",
    "concurrency",
    "config",
    "counts",
    "cues",
    "decoder-container",
    "asset-kind",
    "asset-names",
    "derived-media",
    "description",
    "errors",
    "field-names",
    "ids",
    "ignored-errors",
    "json-parse",
    "keys",
    "language-tag",
    "lists",
    "lease",
    "log",
    "fingerprint",
    "trim-end",
    "url-credentials",
    "lru-cache",
    "isolate-budget",
    "isolate-memory",
    "shared-budget",
    "messages",
    "text",
    "normalize-text",
    "object-calls",
    "parameters",
    "prompts",
    "signed-token",
    "time-range",
    "timings",
    "types",
    "unsegmented-scripts",
    "user-metadata",
    "web-url",
    "xml-prolog",
    "storyboard",
    "working-copy",
  ],
  ["fetching", "media", "models", "store"],
  ["metering", "platforms"],
  ["ingest", "search"],
  ["answer", "durable", "exports", "lifecycle"],
  ["http"],
  ["queues", "routes"],
  ["app"],
  ["index"],
  ["with-decoder"],
];

/** The entries of the Worker, which export its Durable Objects. */
const ENTRIES: ReadonlySet<string> = new Set(["index", "with-decoder"]);

/** Imports that each folder may have, by path prefix. The first prefix that fits counts. */
const IMPORTS: readonly (readonly [from: string, to: readonly string[]])[] = [
  ["src/app.ts", ["src/", "openapi.json"]], // which it serves
  ["src/", ["src/"]],
  ["local/worker.ts", ["local/", "src/index.ts"]], // the local entry: the Worker and its stand-ins
  [
    "local/engine/quotes/", // reads prompts and text as the Worker does
    ["local/engine/", "src/answer/", "src/prompts.ts", "src/text/", "src/search/query.ts"],
  ],
  ["local/engine/", ["local/engine/"]],
  ["local/", ["local/", "src/types.ts", "src/config.ts"]],
  ["console/", ["console/"]],
  ["client/", ["client/"]],
  ["tools/", ["tools/", "src/", "local/"]],
  ["scripts/", ["scripts/", "tools/", "src/", "local/"]],
  ["bench/", ["bench/", "tools/", "src/", "local/"]],
  ["test/", [""]],
];

/** Folders whose code calls a binding (D1, R2, Vectorize, a queue, a model). */
const CALLS_BINDINGS = /^src\/(store|models|media|durable)\//;
/** Folders whose code sends requests to other servers. */
const CALLS_OUTSIDE = /^src\/(fetching|platforms|models|media)\//;
const BINDINGS = String.raw`DB|MEDIA|(?:TEXT|IMAGE)_VECTORS_\d+|AI|FRAMES|IMAGES|INGEST|JOBS|WEBHOOKS|MEDIA_INDEX|MODEL_LIMITER|DECODER`;
const BINDING_CALL = new RegExp(String.raw`\b(?:${BINDINGS})\.[a-z]\w*\(`);
const OUTSIDE_CALL = /(?<![.\w])fetch\(/;

/** What makes a file a router: it has endpoints. */
const ROUTER = /\bcreateRouter\(/;

/**
 * Returns a sentence for each broken rule of layering or access to bindings. The linter knows the
 * size of files, and cycles of imports.
 */
export function findLayerProblems(sources: Sources): string[] {
  const routers = new Set(
    [...sources].flatMap(([file, text]) => {
      return file.startsWith("src/routes/") && ROUTER.test(text) ? [file] : [];
    }),
  );
  const problems: string[] = [];
  for (const [file, text] of sources) {
    for (const target of importsOf(file, text)) {
      problems.push(...importProblems(file, target));
      if (file.startsWith("src/routes/") && routers.has(target)) {
        problems.push(`${file} imports ${target}: no route imports a router; share by src/http/`);
      }
    }
    if (/^(?:src|local)\//.test(file) && /\bfrom "sightline["/]/.test(text)) {
      problems.push(`${file} imports the client, which is for scripts, tools and benches`);
    }
    problems.push(...callProblems(file, text));
  }
  return problems;
}

function importsOf(file: string, text: string): string[] {
  const targets = [...text.matchAll(/\b(?:from|import\()\s*"(\.[^"]+)"/g)];
  return targets.map(([, target]) => join(dirname(file), target!));
}

function importProblems(file: string, target: string): string[] {
  const allowed = IMPORTS.find(([from]) => file.startsWith(from))?.[1];
  if (!allowed) return [`${file} is in no folder of scripts/check-layers.ts`];
  if (!allowed.some((to) => target.startsWith(to))) {
    return [`${file} imports ${target}: it may import ${allowed.join(", ")}`];
  }
  if (!file.startsWith("src/") || !target.startsWith("src/")) return [];
  const [from, to] = [partOf(file), partOf(target)];
  const [own, other] = [layerOf(from), layerOf(to)];
  if (own === -1 || other === -1) return [`src/${own === -1 ? from : to} is in no layer`];
  if (to === "durable" && from !== "durable" && !ENTRIES.has(from)) {
    return [`${file} imports ${target}: call the object by its stub (src/store/index-object.ts)`];
  }
  if (other > own) return [`${file} imports ${target}, which is in a higher layer`];
  if (other === own && from !== to && own > 0) {
    return [`${file} imports ${target}, another part of its layer`];
  }
  return [];
}

function callProblems(file: string, text: string): string[] {
  if (!file.startsWith("src/")) return [];
  const problems: string[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (/^\s*(\*|\/\/|\/\*)/.test(line)) continue;
    const at = `${file}:${i + 1}`;
    if (BINDING_CALL.test(line) && !CALLS_BINDINGS.test(file)) {
      problems.push(`${at} calls a binding: only store/, models/, media/ and durable/ do`);
    }
    if (OUTSIDE_CALL.test(line) && !CALLS_OUTSIDE.test(file)) {
      problems.push(`${at} calls fetch: only fetching/, platforms/, models/ and media/ do`);
    }
  }
  return problems;
}

function partOf(file: string): string {
  return file.slice("src/".length).replace(/\.ts$/, "").split("/")[0]!;
}

function layerOf(part: string): number {
  return LAYERS.findIndex((parts) => parts.includes(part));
}
