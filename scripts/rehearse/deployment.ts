import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { join } from "node:path";
import type { WorkerUpload } from "../../tools/fake-cloudflare/account.ts";
import { createFront } from "../../tools/stack/front.ts";
import { serveOnLoopback } from "../../tools/stack/loopback.ts";
import { findFreePort } from "../../tools/stack/ports.ts";
import { DEFAULT_MAX_BODY_BYTES } from "../../tools/stack/stack.ts";
import type { PageShell } from "./page-shell.ts";
import type { Runtime } from "./runtime.ts";
import type { Build } from "./worker-options.ts";

interface Front {
  server: Server;
  origin: string;
  runtimePort: number;
}

/** An environment of the account: its files in the clone, its Worker and its URL. */
export class Deployment {
  readonly environment: string;
  readonly worker: string;
  /** Origin of the Worker. Nothing answers there until it was deployed. */
  readonly origin: string;
  /** Whether objects run the version before a deployment until they are reset. */
  hasOldObjects = false;
  /** How running objects were updated, by deployment. */
  readonly updateModes: (string | undefined)[] = [];
  #build: Build | null = null;
  readonly #clone: string;
  readonly #runtime: Runtime;
  readonly #front: Front;

  private constructor(runtime: Runtime, clone: string, environment: string, front: Front) {
    this.#runtime = runtime;
    this.#clone = clone;
    this.#front = front;
    this.origin = front.origin;
    this.environment = environment;
    this.worker = `sightline-${environment}`;
  }

  /** Chooses the address of an environment, and opens it. */
  static async open(runtime: Runtime, clone: string, environment: string): Promise<Deployment> {
    const runtimePort = await findFreePort();
    const maxBodyBytes = DEFAULT_MAX_BODY_BYTES;
    const server = createFront({ runtimePort, maxBodyBytes, onRequest: () => undefined });
    const { origin } = await serveOnLoopback(server);
    return new Deployment(runtime, clone, environment, { server, origin, runtimePort });
  }

  get configFile(): string {
    return join(this.#clone, `wrangler.${this.environment}.toml`);
  }

  /** Changes the environment's file where an operator may: variables and rate limits. */
  async edit(replace: (text: string) => string): Promise<void> {
    const text = await readFile(this.configFile, "utf8");
    const edited = replace(text);
    if (edited === text) throw new Error(`${this.configFile} has nothing to replace.`);
    await writeFile(this.configFile, edited);
  }

  /**
   * Bundles the Worker by `wrangler deploy --dry-run`, and runs it. Throws if the bundle isn't the
   * one that was uploaded. A version to which a rollback returns has its bundle.
   */
  async start(shell: PageShell, upload: WorkerUpload): Promise<void> {
    const hash = upload.modules?.["index.js"] ?? "none";
    const outdir = join(this.#clone, ".wrangler/bundles", this.environment, hash);
    const config = this.configFile;
    if (!existsSync(outdir)) {
      await shell.run(`npx wrangler deploy --dry-run --config ${config} --outdir ${outdir}`);
      const bundled = createHash("sha256").update(await readFile(join(outdir, "index.js")));
      if (hash !== bundled.digest("hex")) {
        throw new Error(`${config}: the bundle of --dry-run isn't the one that was uploaded.`);
      }
    }
    const before = this.hasOldObjects ? (this.#build?.outdir ?? null) : null;
    this.updateModes.push(upload.code_update_strategy?.mode);
    this.#build = {
      worker: this.worker,
      port: this.#front.runtimePort,
      config,
      outdir,
      before: before === outdir ? null : before,
      resetEvery: null,
    };
    await this.#runtime.deploy(this.#build);
  }

  /** Restarts the Worker, and from then on resets an object by one of so many calls; null: none. */
  async resetObjects(resetEvery: number | null): Promise<void> {
    if (!this.#build) throw new Error(`${this.worker} wasn't deployed.`);
    await this.#runtime.deploy({ ...this.#build, resetEvery });
  }

  stop(): void {
    this.#front.server.closeAllConnections();
    this.#front.server.close();
  }
}
