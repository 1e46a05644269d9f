import { createHash, createHmac } from "node:crypto";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  convertV4MiniflareOptions,
  Miniflare,
  type V4WorkerOptions,
  type V4WorkerOptionsShape,
} from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { CloudflareAccount } from "../../tools/fake-cloudflare/account.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { PLATFORM } from "./binding-plugin.ts";
import { type Build, deployedWorkerOptions, readModules } from "./worker-options.ts";

/** Configuration of the Worker with the stand-ins. */
export const PLATFORM_CONFIG = join(PROJECT, "local/platform/wrangler.toml");

export interface RuntimeOptions {
  /** Folder of the account's stores. */
  folder: string;
  /** Folder of the bundle of `local/platform/`. */
  platform: string;
  engine: { url: string; token: string };
  /** Most milliseconds until Vectorize shows a write. */
  vectorizeLagMs: number;
  /** Gets each line that a Worker logs. */
  onLog: (line: string) => void;
}

/**
 * Runs the Workers that were deployed to a fake account, and keeps the account's stores: a D1
 * database of the account is the one that its Worker has.
 */
export class Runtime {
  readonly account: CloudflareAccount;
  readonly #options: RuntimeOptions;
  readonly #builds = new Map<string, Build>();
  /** Options of the Workers that run. */
  #workers: V4WorkerOptions[] = [];
  #miniflare: Miniflare | null = null;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.account = new CloudflareAccount((uuid) => openDatabase(options.folder, uuid));
  }

  /**
   * Runs a build in place of the one that its Worker had. Restarts all Workers: messages that are
   * in a queue are lost.
   */
  async deploy(build: Build): Promise<void> {
    this.#builds.set(build.worker, build);
    const builds = [...this.#builds.values()].filter((one) => this.account.workers.has(one.worker));
    this.#workers = await Promise.all(
      builds.map((one) => deployedWorkerOptions(this.account, one)),
    );
    const options = convertV4MiniflareOptions({
      resourcePersistencePath: this.#options.folder,
      handleStructuredLogs: ({ message }) => this.#options.onLog(message),
      workers: [...this.#workers, await this.#platformOptions()],
    });
    if (this.#miniflare) await this.#miniflare.setOptions(options);
    else this.#miniflare = new Miniflare(options);
    await this.#miniflare.ready;
    await this.runTriggers(build.worker); // each minute in a deployment
  }

  /** Runs the cron triggers of a Worker, as if they were due at `scheduledTime`. */
  async runTriggers(worker: string, scheduledTime = new Date()): Promise<void> {
    const crons = this.#workers.find(({ name }) => name === worker)?.cronTriggers ?? [];
    const fetcher = await this.#running.getWorker(worker);
    for (const cron of crons) {
      const { outcome } = await fetcher.scheduled({ cron, scheduledTime });
      if (outcome !== "ok") throw new Error(`the trigger "${cron}" ended with ${outcome}`);
    }
  }

  /** Sends a message to a queue of the account. */
  async send(queue: string, message: object): Promise<void> {
    const producer = await this.#running.getQueueProducer(queue, PLATFORM);
    await producer.send(message);
  }

  /** Runs a query on the database of each object of a class. Returns the numbers of rows. */
  queryObjects(worker: string, className: string, sql: string, binding: string): number[] {
    const folder = join(this.#options.folder, "do", `${worker}-${className}`);
    const files = readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
    return files.map((name) => {
      const sqlite = new DatabaseSync(join(folder, name), { readOnly: true });
      const { length } = sqlite.prepare(sql).all(binding);
      sqlite.close();
      return length;
    });
  }

  /** Lists the keys of a Worker's R2 bucket. */
  async listObjects(worker: string): Promise<string[]> {
    const bucket = await this.#running.getR2Bucket("MEDIA", worker);
    return (await bucket.list()).objects.map(({ key }) => key);
  }

  async stop(): Promise<void> {
    await this.#miniflare?.dispose();
  }

  get #running(): Miniflare {
    if (this.#miniflare) return this.#miniflare;
    throw new Error("Nothing was deployed yet.");
  }

  async #platformOptions(): Promise<V4WorkerOptions> {
    const { platform, engine, vectorizeLagMs } = this.#options;
    const options = unstable_getMiniflareWorkerOptions(PLATFORM_CONFIG)
      .workerOptions as V4WorkerOptionsShape;
    const queues = [...this.account.queues.keys()];
    return {
      ...options,
      name: PLATFORM,
      modules: await readModules(platform),
      modulesRoot: platform,
      bindings: {
        ...options.bindings,
        ENGINE_URL: engine.url,
        ENGINE_TOKEN: engine.token,
        VECTORIZE_LAG_MS: String(vectorizeLagMs),
      },
      queueProducers: Object.fromEntries(queues.map((name) => [name, { queueName: name }])),
    };
  }
}

/** Key by which Miniflare derives the names of its D1 files. */
const D1_KEY = "miniflare-D1DatabaseObject";

/** Opens the file in which Miniflare stores a D1 database. Both may use it at a time. */
function openDatabase(folder: string, uuid: string): DatabaseSync {
  const path = join(folder, "d1", D1_KEY);
  mkdirSync(path, { recursive: true });
  return new DatabaseSync(join(path, `${durableObjectId(D1_KEY, uuid)}.sqlite`));
}

/** Returns the id of a Durable Object with a name, as workerd derives it without an account. */
function durableObjectId(uniqueKey: string, name: string): string {
  const key = createHash("sha256").update(uniqueKey).digest();
  const sign = (data: string | Buffer) =>
    createHmac("sha256", key).update(data).digest().subarray(0, 16);
  const nameHash = sign(name);
  return Buffer.concat([nameHash, sign(nameHash)]).toString("hex");
}
