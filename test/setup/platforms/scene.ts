/** Content of a fictional channel, account, playlist, search or profile (platform-server.ts). */
export interface Scene {
  /** Newest first. */
  items: SceneItem[];
  /** Whether lists have no end. Each item is a copy of the first. */
  endless?: boolean;
  faults?: Fault[];
  /** HTML of `/pages/<scene>`; `FILES` stands for the file server's origin. */
  html?: string;
}

export interface SceneItem {
  id: string;
  /** A path on the file server; `moreFiles` holds the other images of a post. */
  file: string;
  moreFiles?: string[];
  title?: string;
  altText?: string;
  /** A file of the file server with captions in English. */
  captions?: string;
  isVideo?: boolean;
  /** Fields that replace those of the platform's record. */
  overrides?: Record<string, unknown>;
  /** Fields that replace those of its element in a playlist of PeerTube. */
  element?: Record<string, unknown>;
  /** Whether the platform's record lacks the id. */
  malformed?: boolean;
  /** Whether the item was deleted but is still listed. */
  removed?: boolean;
}

/** Response to requests whose path and query contain `path`. */
export interface Fault {
  path: string;
  status: number;
  headers?: Record<string, string>;
  body?: string;
  /** Makes a body of this many spaces. */
  bytes?: number;
  /** Number of requests that get this response; all if undefined. */
  times?: number;
}

/** A request that was attributed to a scene. */
export interface ReceivedRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** An item with the number that its ids are made of, which grows with time. */
export interface NumberedItem extends SceneItem {
  scene: string;
  number: number;
}

const ENDLESS_COUNT = 900_000_000;

/** All scenes. An item keeps its number when its scene changes. */
export class Scenes {
  readonly #scenes = new Map<string, Scene>();
  readonly #numbers = new Map<string, number>();
  readonly #requests = new Map<string, ReceivedRequest[]>();
  #endless = "";

  put(name: string, scene: Scene): void {
    this.#scenes.set(name, scene);
    this.#requests.set(name, []);
    if (scene.endless) this.#endless = name;
    for (const { id } of scene.items.toReversed()) {
      const key = `${name}/${id}`;
      if (!this.#numbers.has(key)) this.#numbers.set(key, this.#numbers.size + 1);
    }
  }

  get(name: string): Scene | undefined {
    return this.#scenes.get(name);
  }

  requestsTo(name: string): ReceivedRequest[] {
    return this.#requests.get(name) ?? [];
  }

  byNumber(number: number): NumberedItem | undefined {
    if (number > ENDLESS_COUNT / 2) return this.#endlessItem(this.#endless, ENDLESS_COUNT - number);
    for (const [key, itemNumber] of this.#numbers) {
      const [name = "", id = ""] = key.split("/");
      const item =
        itemNumber === number && this.#scenes.get(name)?.items.find((item) => item.id === id);
      if (item) return { ...item, scene: name, number };
    }
    return undefined;
  }

  page(name: string, first: number, count: number): { items: NumberedItem[]; total: number } {
    const { items, endless } = this.#scenes.get(name)!;
    if (endless) {
      const page = Array.from({ length: count }, (_, i) => this.#endlessItem(name, first + i)!);
      return { items: page, total: ENDLESS_COUNT };
    }
    const page: NumberedItem[] = [];
    for (const item of items.slice(first, first + count)) {
      page.push({ ...item, scene: name, number: this.#numbers.get(`${name}/${item.id}`)! });
    }
    return { items: page, total: items.length };
  }

  #endlessItem(name: string, index: number): NumberedItem | undefined {
    const template = this.#scenes.get(name)?.items[0];
    return (
      template && {
        ...template,
        id: `endless-${index}`,
        scene: name,
        number: ENDLESS_COUNT - index,
      }
    );
  }
}

/** Response to a request: JSON or HTML; undefined for 404. */
export interface Route {
  scene: string;
  respond(): unknown;
}

export interface PlatformRequest {
  url: URL;
  body: string;
  /** The origin of the requested server. */
  origin: string;
  filesOrigin: string;
  isPixelfed: boolean;
}
