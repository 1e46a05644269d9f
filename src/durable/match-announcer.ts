import type { IndexId } from "../ids.ts";
import { WATCHES } from "../parameters.ts";
import { listShards } from "../store/d1/shards.ts";
import { listWatchesById } from "../store/d1/watches.ts";
import { type Databases, indexDatabase } from "../store/index-database/index-database.ts";
import { listMatchesSince } from "../store/index-database/matches.ts";
import type { EventPublisher } from "./event-publisher.ts";
import { toMatchEvents } from "./match-events.ts";

/**
 * Makes events of the matches in the databases of an index, each once: how far they are announced
 * is stored in the turn that stores the events.
 */
export class MatchAnnouncer {
  readonly #env: Databases;
  readonly #storage: DurableObjectStorage;
  readonly #publisher: EventPublisher;

  constructor(env: Databases, storage: DurableObjectStorage, publisher: EventPublisher) {
    this.#env = env;
    this.#storage = storage;
    this.#publisher = publisher;
  }

  /** Announces all matches that aren't announced yet. Throws what the databases throw. */
  async announce(indexId: IndexId): Promise<void> {
    for (const { shard } of await listShards(this.#env.DB, indexId)) {
      while (await this.#announceSome(indexId, shard));
    }
  }

  /** Announces the next matches of a database. Returns whether there were any. */
  async #announceSome(indexId: IndexId, shard: number): Promise<boolean> {
    const db = indexDatabase(this.#env, { indexId, shard });
    const matches = await listMatchesSince(db, this.#position(shard), WATCHES.announcedMatches);
    if (matches.length === 0) return false;
    const watchIds = [...new Set(matches.map(({ watchId }) => watchId))];
    const watches = await listWatchesById(this.#env.DB, indexId, watchIds);
    const after = this.#position(shard); // another call may have gone on meanwhile
    const isNew = ({ matchKey }: { matchKey: number }) => matchKey > after;
    const events = toMatchEvents(matches.filter(isNew), watches);
    const appended = events.map(({ data, url }) =>
      this.#publisher.append("watch.matched", data, url),
    );
    const last = matches.at(-1)!.matchKey;
    this.#storage.kv.put(positionKey(shard), Math.max(after, last));
    await this.#publisher.send(appended);
    return true;
  }

  /** Returns the key of the last match of a database that is announced. */
  #position(shard: number): number {
    return this.#storage.kv.get<number>(positionKey(shard)) ?? 0;
  }
}

function positionKey(shard: number): string {
  return `announced/${shard}`;
}
