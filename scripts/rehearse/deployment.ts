import { createHash } from "node:crypto";
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
   * one that was uploaded.
   */
  async start(shell: PageShell, upload: WorkerUpload): Promise<void> {
    const outdir = join(this.#clone, ".wrangler/bundles", this.environment);
    const config = this.configFile;
    await shell.run(`npx wrangler deploy --dry-run --config ${config} --outdir ${outdir}`);
    const bundled = createHash("sha256").update(await readFile(join(outdir, "index.js")));
    if (upload.modules?.["index.js"] !== bundled.digest("hex")) {
      throw new Error(`${config}: the bundle of --dry-run isn't the one that was uploaded.`);
    }
    await this.#runtime.deploy({
      worker: this.worker,
      port: this.#front.runtimePort,
      config,
      outdir,
    });
  }

  stop(): void {
    this.#front.server.closeAllConnections();
    this.#front.server.close();
  }
}
