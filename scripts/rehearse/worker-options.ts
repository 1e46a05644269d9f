import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
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
}

/**
 * Returns what Miniflare runs of a build: the bundle and the configuration as they are, with the
 * secrets of the account. Stand-ins take the place of what Miniflare can't simulate. Throws if the
 * account lacks a resource that the configuration names, as a deployment would.
 */
export async function deployedWorkerOptions(
  account: CloudflareAccount,
  { worker, port, config, outdir }: Build,
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
  return {
    ...simulated,
    name: worker,
    modules: await readModules(outdir),
    modulesRoot: outdir,
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

const MODULE_TYPES = { ".js": "ESModule", ".wasm": "CompiledWasm" } as const;

/** Reads the modules of a bundle, the main one first. */
export async function readModules(outdir: string) {
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
