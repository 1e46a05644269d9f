import type { ApiPath } from "./api-path.ts";
import { ConnectionError, IngestFailedError, SightlineError } from "./errors.ts";
import { wait } from "./retries.ts";
import { type ServerSentEvent, readEvents } from "./server-sent-events.ts";
import type { Transport } from "./transport.ts";
import type { Asset, IndexEvent } from "./types.ts";

export interface WaitOptions {
  /** Gets the record of an asset when its state or progress has changed. */
  onProgress?: ((asset: Asset) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Time for the whole wait. */
  timeoutMs?: number | undefined;
}

const POLL_MS = 2000;
/** Records that are requested at a time. */
const CONCURRENCY = 8;

/**
 * Waits until all assets are ready, and returns their records. Throws an `IngestFailedError` as
 * soon as one has failed. Follows the events of the index; polls where that isn't possible.
 */
export async function waitUntilReady(
  transport: Transport,
  indexPath: ApiPath,
  assetIds: readonly string[],
  { onProgress, signal, timeoutMs }: WaitOptions,
): Promise<Asset[]> {
  if (!assetIds.every((id) => typeof id === "string")) {
    throw new TypeError("waitUntilReady needs the ids of assets, such as added.asset_id.");
  }
  const limit = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const ended = new AbortController();
  const limits = [transport.signalOf(signal), limit, ended.signal];
  const stop = AbortSignal.any(limits.filter((one) => one !== undefined));
  const ingest = new Ingest(transport, indexPath, assetIds, stop, onProgress);
  try {
    while (ingest.pending().length > 0) {
      const events = await openEvents(transport, indexPath, stop);
      await ingest.load(ingest.pending()); // after the stream is open, so that nothing is missed
      if (ingest.pending().length === 0) break;
      if (events) await ingest.follow(readEvents(events, stop));
      else await wait(POLL_MS, stop);
    }
  } finally {
    ended.abort(); // closes a stream that wasn't read to its end
  }
  return assetIds.map((id) => ingest.records.get(id)!);
}

/** Opens the event stream. Undefined if the service can't be followed now. */
async function openEvents(transport: Transport, indexPath: ApiPath, signal: AbortSignal) {
  try {
    const path = [...indexPath, "events"];
    return await transport.open({ method: "GET", path, repeatable: "never" }, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SightlineError) return undefined;
    throw error;
  }
}

/** Assets that are being ingested. */
class Ingest {
  readonly records = new Map<string, Asset>();
  readonly #ids: ReadonlySet<string>;
  readonly #transport: Transport;
  readonly #indexPath: ApiPath;
  readonly #signal: AbortSignal;
  readonly #onProgress: WaitOptions["onProgress"];

  constructor(
    transport: Transport,
    indexPath: ApiPath,
    assetIds: readonly string[],
    signal: AbortSignal,
    onProgress: WaitOptions["onProgress"],
  ) {
    this.#transport = transport;
    this.#indexPath = indexPath;
    this.#ids = new Set(assetIds);
    this.#signal = signal;
    this.#onProgress = onProgress;
  }

  pending(): string[] {
    return [...this.#ids].filter((id) => this.records.get(id)?.state !== "ready");
  }

  async load(ids: string[]): Promise<void> {
    const queue = [...ids];
    const worker = async () => {
      for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
        const type = id.startsWith("img_") ? "image" : "video";
        const path = [...this.#indexPath, type, id];
        const options = { signal: this.#signal };
        this.#update(await this.#transport.json<Asset>({ method: "GET", path }, options));
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  }

  /** Applies events until all assets are ready or the stream ends or breaks. */
  async follow(events: AsyncGenerator<ServerSentEvent>): Promise<void> {
    try {
      for await (const { data } of events) {
        await this.#apply(JSON.parse(data) as IndexEvent);
        if (this.pending().length === 0) return;
      }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
  }

  async #apply({ type, data }: IndexEvent): Promise<void> {
    const known = this.records.get(data.asset_id ?? "");
    if (type === "reset") await this.load(this.pending());
    else if (!known || known.state === "ready") return;
    else if (type === "asset.progress") {
      this.#update({ ...known, progress: Math.max(known.progress, data.progress ?? 0) });
    } else await this.load([known.asset_id]);
  }

  #update(asset: Asset): void {
    const known = this.records.get(asset.asset_id);
    this.records.set(asset.asset_id, asset);
    const hasChanged = known?.state !== asset.state || known.progress !== asset.progress;
    if (hasChanged) this.#onProgress?.(asset);
    if (asset.state === "failed") throw new IngestFailedError(asset);
  }
}
