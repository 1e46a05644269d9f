import { createWriteStream, existsSync } from "node:fs";
import { open, rm, stat, statfs } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { EngineError } from "./errors.ts";
import type { Call } from "./route.ts";
import type { WorkFolder } from "./work-folder.ts";

/** Bytes of a block, in which a file is sent. The last one may be shorter. */
export const BLOCK_BYTES = 16 * 1024 * 1024;
/** A file that nobody has used for so long is deleted. */
const IDLE_MS = 30 * 60_000;
/** Free space that stays on the disk. */
const SPARE_BYTES = 512 * 1024 * 1024;
const MAX_FILES = 64;
/** Unit of the blocks that the file system counts. */
const STAT_BLOCK_BYTES = 512;

interface StoredFile {
  path: string;
  /** Resolves once there is space for it. */
  allocated: Promise<void>;
  sizeBytes: number;
  /** Blocks that have been received. */
  blocks: Set<number>;
  usedAt: number;
  users: number;
}

/** Files whose conversion has several calls: each is sent once, and deleted when it is idle. */
export class StoredFiles {
  readonly #folder: WorkFolder;
  readonly #maxBytes: number;
  readonly #files = new Map<string, StoredFile>();

  constructor(folder: WorkFolder, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    setInterval(() => void this.#deleteIdle().catch(console.error), IDLE_MS / 2).unref();
  }

  /**
   * Stores one block of a file; the same block may come twice. Returns the blocks that are missing.
   * Errors: `too_large`, `bad_request`, and `busy` without space.
   */
  async receive(
    id: string,
    sizeBytes: number,
    block: number,
    body: Call["request"],
  ): Promise<number[]> {
    if (sizeBytes > this.#maxBytes) {
      throw new EngineError("too_large", `At most ${this.#maxBytes} bytes are accepted.`);
    }
    const file = await this.#create(id, sizeBytes);
    const start = block * BLOCK_BYTES;
    const length = Math.min(BLOCK_BYTES, sizeBytes - start);
    if (length <= 0) throw new EngineError("bad_request", "The block is beyond the file's end.");
    await this.#use(file, async () => {
      const target = createWriteStream(file.path, { flags: "r+", start });
      await pipeline(limitBlock(body, length), target);
      if (target.bytesWritten !== length) {
        throw new EngineError("bad_request", `The block has ${length} bytes.`);
      }
    });
    file.blocks.add(block);
    return missingBlocks(file);
  }

  /** Runs `work` with the path of a whole file. Errors: `not_found` if a part of it is missing. */
  async withFile<T>(id: string, work: (path: string) => Promise<T>): Promise<T> {
    const file = this.#files.get(id);
    if (!file || missingBlocks(file).length > 0) {
      throw new EngineError("not_found", "The file isn't stored here: send it.");
    }
    return this.#use(file, () => work(file.path));
  }

  /** Lists the missing blocks of a file: all of them if nothing of it is stored. */
  missing(id: string, sizeBytes: number): number[] {
    const file = this.#files.get(id);
    return missingBlocks(file ?? { sizeBytes, blocks: new Set() });
  }

  async delete(id: string): Promise<void> {
    const file = this.#files.get(id);
    this.#files.delete(id);
    if (file) await rm(file.path, { force: true });
  }

  async #create(id: string, sizeBytes: number): Promise<StoredFile> {
    const known = this.#files.get(id);
    if (known?.sizeBytes === sizeBytes) {
      await known.allocated;
      return known;
    }
    if (known) await this.delete(id);
    const path = this.#folder.newPath();
    const allocated = this.#allocate(id, path, sizeBytes);
    const blocks = new Set<number>();
    const file = { path, allocated, sizeBytes, blocks, usedAt: Date.now(), users: 0 };
    this.#files.set(id, file);
    await allocated;
    return file;
  }

  async #allocate(id: string, path: string, sizeBytes: number): Promise<void> {
    await this.#deleteIdle();
    const [handle, disk] = await Promise.all([open(path, "w"), statfs(this.#folder.path)]);
    await handle.truncate(sizeBytes);
    await handle.close();
    const hasSpace = (await this.#unwritten()) + SPARE_BYTES < free(disk);
    if (hasSpace && this.#files.size <= MAX_FILES) return;
    await this.delete(id);
    throw new EngineError("busy", "There is no space for another file. Try again later.");
  }

  /** Returns the bytes that the stored files have not received yet. */
  async #unwritten(): Promise<number> {
    const files = [...this.#files.values()];
    const existing = files.filter(({ path }) => existsSync(path));
    const written = await Promise.all(existing.map(({ path }) => stat(path)));
    const writtenBytes = (i: number) => (written[i]?.blocks ?? 0) * STAT_BLOCK_BYTES;
    return existing.reduce((sum, file, i) => {
      return sum + Math.max(0, file.sizeBytes - writtenBytes(i));
    }, 0);
  }

  async #deleteIdle(): Promise<void> {
    const before = Date.now() - IDLE_MS;
    for (const [id, { usedAt, users }] of this.#files) {
      if (users === 0 && usedAt < before) await this.delete(id);
    }
  }

  async #use<T>(file: StoredFile, work: () => Promise<T>): Promise<T> {
    file.users++;
    try {
      return await work();
    } finally {
      file.users--;
      file.usedAt = Date.now();
    }
  }
}

function free({ bavail, bsize }: { bavail: number; bsize: number }): number {
  return bavail * bsize;
}

function missingBlocks({ sizeBytes, blocks }: Pick<StoredFile, "sizeBytes" | "blocks">): number[] {
  const count = Math.ceil(sizeBytes / BLOCK_BYTES);
  return Array.from({ length: count }, (_, block) => block).filter((block) => !blocks.has(block));
}

/** Yields a block's chunks, and no byte beyond its end. */
async function* limitBlock(request: Call["request"], length: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError("A request is read as bytes.");
    size += chunk.length;
    if (size > length) throw new EngineError("bad_request", `The block has ${length} bytes.`);
    yield chunk;
  }
}
