import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { LocalMedia } from "./local-media.ts";
import type { SightlineIndex } from "./sightline-index.ts";
import type { Asset } from "./types.ts";

/** Finds files that an index has already, so that they aren't uploaded a second time. */
export class StoredCopies {
  readonly #index: SightlineIndex;
  readonly #signal: AbortSignal;
  #assets: Promise<Map<number, Asset[]>> | undefined;

  constructor(index: SightlineIndex, signal: AbortSignal) {
    this.#index = index;
    this.#signal = signal;
  }

  /**
   * Returns the asset with the bytes of a file. Reads the file only if one has its size.
   * @example
   * const copy = await copies.find({ path: "beach.mp4", bytes: 1_048_576 });
   */
  async find({ path, bytes }: Pick<LocalMedia, "path" | "bytes">): Promise<Asset | undefined> {
    this.#assets ??= this.#listAssets();
    const candidates = (await this.#assets).get(bytes);
    if (!candidates) return undefined;
    const sha256 = await hashFile(path, this.#signal);
    return candidates.find((asset) => asset.sha256 === sha256);
  }

  async #listAssets(): Promise<Map<number, Asset[]>> {
    const assets = new Map<number, Asset[]>();
    const list = this.#index.assets({ limit: 100 }, { signal: this.#signal });
    for await (const asset of list) {
      assets.set(asset.size_bytes, [...(assets.get(asset.size_bytes) ?? []), asset]);
    }
    return assets;
  }
}

async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash, { signal });
  return hash.digest("hex");
}
