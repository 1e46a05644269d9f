import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import type { V4WorkerOptions, V4WorkerOptionsShape } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import type { CloudflareAccount } from "../../tools/fake-cloudflare/account.ts";
import { PLATFORM, type PlatformBinding, PLUGIN } from "./binding-plugin.ts";

const PLUGIN_FILE = join(import.meta.dirname, "binding-plugin.ts");

/** A bundle of `wrangler deploy --dry-run` with the configuration that it was made with. */
export interface Build {
  worker: string;
  /** Port of 127.0.0.1 where the Worker answers, its assets included. */
  port: number;
  /** Path of `wrangler.NAME.toml`. */
  config: string;
  /** Folder of the bundle. */
  outdir: string;
  /**
   * Folder of the bundle that objects run until they are reset, beside that of the other: as the
   * platform may leave them after a deployment. Null if they are reset by the deployment.
   */
  before: string | null;
  /** Calls of objects of which one resets its object; null: none. */
  resetEvery: number | null;
}

/**
 * Returns what Miniflare runs of a build: the bundle and the configuration as they are, with the
 * secrets of the account. Stand-ins take the place of what Miniflare can't simulate. Throws if the
 * account lacks a resource that the configuration names, as a deployment would.
 */
export async function deployedWorkerOptions(
  account: CloudflareAccount,
  { worker, port, config, outdir, before, resetEvery }: Build,
): Promise<V4WorkerOptions> {
  const workerOptions = unstable_getMiniflareWorkerOptions(config)
    .workerOptions as V4WorkerOptionsShape;
  const { ai, images, media, vectorize = {}, ...simulated } = workerOptions;
  requireResources(account, workerOptions);
  if (!ai || !images || !media) throw new Error(`${config} lacks AI, IMAGES or FRAMES.`);
  const bindings: Record<string, PlatformBinding> = {
    [ai.binding]: { client: "ai-api", entrypoint: "AiService" },
    [images.binding]: { client: "images-api", entrypoint: "ImagesService" },
  };
  for (const [binding, { index_name: index }] of Object.entries(vectorize)) {
    bindings[binding] = vectorizeBinding(account, index);
  }
  const modules = await readModules(outdir);
  const isWrapped = before !== null || resetEvery !== null;
  if (isWrapped) {
    const classes = Object.values(workerOptions.durableObjects ?? {}).map(classNameOf);
    const path = join(dirname(outdir), "wrapped-objects.js");
    const contents = wrappedObjectsModule(
      { outdir, before: before ?? outdir, resetEvery },
      classes,
    );
    modules.unshift({ type: "ESModule", path, contents });
    if (before) modules.push(...(await readModules(before)));
  }
  return {
    ...simulated,
    name: worker,
    modules,
    modulesRoot: isWrapped ? dirname(outdir) : outdir,
    bindings: {
      ...simulated.bindings,
      ...Object.fromEntries(account.workers.get(worker)?.secrets ?? []),
    },
    serviceBindings: {
      ...simulated.serviceBindings,
      [media.binding]: { name: PLATFORM, entrypoint: "FramesService" },
    },
    unsafeBindings: Object.entries(bindings).map(([binding, options]) => ({
      name: binding,
      type: PLUGIN,
      plugin: { package: PLUGIN_FILE, name: PLUGIN },
      options,
    })),
    unsafeDirectSockets: [{ port }],
  };
}

function classNameOf(object: string | { className: string }): string {
  return typeof object === "string" ? object : object.className;
}

/**
 * Returns the main module of a Worker whose objects run the bundle `before` until a reset, and are
 * reset by some of their calls, which lose their answers.
 */
function wrappedObjectsModule(
  { outdir, before, resetEvery }: Pick<Build, "outdir" | "resetEvery"> & { before: string },
  classes: string[],
): string {
  const resets = `let calls = 0;
for (const { prototype } of [${classes.map((name) => `current.${name}`).join()}]) {
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name === "constructor" || typeof value !== "function") continue;
    prototype[name] = function (...args) {
      const answer = value.apply(this, args);
      if (++calls % ${resetEvery} === 0) this.ctx.abort("A rehearsal resets the object.");
      return answer;
    };
  }
}`;
  return `import { DurableObject } from "cloudflare:workers";
import * as before from "./${basename(before)}/index.js";
import * as current from "./${basename(outdir)}/index.js";
export default current.default;
const started = new Set();
const wrap = (name) => class extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    const id = String(ctx.id);
    const { [name]: Class } = started.has(id) ? current : before;
    started.add(id);
    return new Class(ctx, env);
  }
};
${resetEvery === null ? "" : resets}
${classes.map((name) => `export const ${name} = wrap("${name}");`).join("\n")}
`;
}

/** Binds an index as setup created it, with its dimensions and its metadata indexes. */
function vectorizeBinding(account: CloudflareAccount, index: string): PlatformBinding {
  const { config, metadataIndexes } = account.vectorIndexes.get(index)!;
  const metadata = metadataIndexes.map(({ propertyName, indexType }) => [propertyName, indexType]);
  return {
    client: "vectorize-api",
    entrypoint: "VectorizeService",
    props: {
      name: index,
      dimensions: config.dimensions,
      metadata_indexes: Object.fromEntries(metadata) as Record<string, string>,
    },
    inner: [
      { name: "indexId", text: index },
      { name: "indexVersion", text: "v2" },
      { name: "useNdJson", json: "true" },
    ],
  };
}

/** Throws if a resource that is bound doesn't exist. */
function requireResources(account: CloudflareAccount, options: V4WorkerOptionsShape): void {
  const { d1Databases, r2Buckets, queueProducers, queueConsumers, vectorize } = options;
  const list = (records: unknown, field: string): string[] =>
    Object.values((records ?? {}) as Record<string, Record<string, string | undefined>>).flatMap(
      (record) => record[field] ?? [],
    );
  const databases = new Set([...account.databases.values()].map(({ uuid }) => uuid));
  const wanted: [kind: string, names: string[], present: { has(name: string): boolean }][] = [
    ["D1 database", list(d1Databases, "id"), databases],
    ["R2 bucket", list(r2Buckets, "id"), account.buckets],
    ["queue", list(queueProducers, "queueName"), account.queues],
    ["queue", Object.keys(queueConsumers ?? {}), account.queues],
    ["queue", list(queueConsumers, "deadLetterQueue"), account.queues],
    ["Vectorize index", list(vectorize, "index_name"), account.vectorIndexes],
  ];
  for (const [kind, names, present] of wanted) {
    const missing = names.find((name) => !present.has(name));
    if (missing !== undefined) throw new Error(`The account has no ${kind} "${missing}".`);
  }
}

interface Module {
  type: "ESModule" | "CompiledWasm";
  path: string;
  contents: string | Uint8Array<ArrayBuffer>;
}

const MODULE_TYPES = { ".js": "ESModule", ".wasm": "CompiledWasm" } as const;

/** Reads the modules of a bundle, the main one first. */
export async function readModules(outdir: string): Promise<Module[]> {
  const names = (await readdir(outdir)).filter((name) => extname(name) in MODULE_TYPES);
  const isScript = (name: string) => name.endsWith(".js");
  names.sort((one, other) => Number(isScript(other)) - Number(isScript(one)));
  return Promise.all(
    names.map(async (name) => {
      const type = MODULE_TYPES[extname(name) as keyof typeof MODULE_TYPES];
      const path = join(outdir, name);
      const contents = await readFile(path);
      return { type, path, contents: isScript(name) ? String(contents) : new Uint8Array(contents) };
    }),
  );
}
