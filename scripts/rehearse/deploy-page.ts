import { type PageBlock, readPageBlocks } from "../../tools/page-blocks.ts";
import type { Deployment } from "./deployment.ts";
import type { PageShell } from "./page-shell.ts";

const PAGE = "deploy.md";

/** Environments of the page, by the deployments of a rehearsal that stand for them. */
export interface PageDeployments {
  production: Deployment;
  staging: Deployment;
}

/** The commands of docs/deploy.md, which a rehearsal follows from top to bottom. */
export class DeployPage {
  readonly #shell: PageShell;
  readonly #deployments: PageDeployments;
  readonly #blocks: PageBlock[];

  constructor(shell: PageShell, deployments: PageDeployments) {
    this.#shell = shell;
    this.#deployments = deployments;
    this.#blocks = readPageBlocks(PAGE).filter(({ language }) => language === "sh");
  }

  /** Returns the page's blocks that weren't followed yet. */
  get remaining(): readonly PageBlock[] {
    return this.#blocks;
  }

  /**
   * Runs the next block of the page, which must have this text. Returns the lines that it prints.
   */
  async follow(text: string): Promise<string[]> {
    const block = this.#blocks.shift();
    if (!block?.code.includes(text)) {
      throw new Error(`${block?.at ?? `the end of docs/${PAGE}`}: no "${text}" here`);
    }
    try {
      return await this.#shell.run(this.#adapt(block.code));
    } catch (error) {
      throw new Error(`${block.at}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }

  /** Puts in what the reader of the page puts in: names, the URL, and nothing for credentials. */
  #adapt(code: string): string {
    const { production, staging } = this.#deployments;
    return code
      .replaceAll(/^export CLOUDFLARE_\w+=.*$/gm, "")
      .replaceAll(/https:\/\/sightline-production\.\S+/g, production.origin)
      .replaceAll("production", production.environment)
      .replaceAll("staging", staging.environment);
  }
}
