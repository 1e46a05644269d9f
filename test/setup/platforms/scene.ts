/** What a made-up channel, account, playlist, search or profile of that name has: see platform-server.ts. */
export interface Scene {
  /** Newest first. */
  items: SceneItem[];
  /** Lists carry it, and answer 304 to who has it. */
  etag?: string;
  /** Lists have no end; each item in them is like the first. */
  endless?: boolean;
  faults?: Fault[];
  /** Of `/pages/<scene>`; `FILES` in it is the file server's origin. */
  html?: string;
}

export interface SceneItem {
  id: string;
  /** Of the file server; of a post with several pictures, more. */
  file: string;
  more?: string[];
  title?: string;
  alt?: string;
  /** A file of the file server with captions in English. */
  captions?: string;
  isVideo?: boolean;
  /** Laid over the record that the platform gives of it. */
  set?: Record<string, unknown>;
  /** Its record has no id. */
  broken?: boolean;
  /** In lists, but when it is asked for itself, it is gone. */
  removed?: boolean;
}

/** What happens, in place of an answer, to requests whose path and query hold `path`. */
export interface Fault {
  path: string;
  status: number;
  headers?: Record<string, string>;
  body?: string;
  /** So many spaces as the body. */
  bytes?: number;
  /** How often; else always. */
  times?: number;
}

/** A request that was attributed to a scene. */
export interface Asked {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** An item with the number that its ids are made of: the newer, the higher. */
export interface Numbered extends SceneItem {
  scene: string;
  number: number;
}

const ENDLESS = 900_000_000;

/** All scenes; an item keeps its number when its scene changes. */
export class Scenes {
  readonly #scenes = new Map<string, Scene>();
  readonly #numbers = new Map<string, number>();
  readonly #asked = new Map<string, Asked[]>();
  #endless = "";

  put(name: string, scene: Scene): void {
    this.#scenes.set(name, scene);
    this.#asked.set(name, []);
    if (scene.endless) this.#endless = name;
    for (const { id } of scene.items.toReversed()) {
      const key = `${name}/${id}`;
      if (!this.#numbers.has(key)) this.#numbers.set(key, this.#numbers.size + 1);
    }
  }

  get(name: string): Scene | undefined {
    return this.#scenes.get(name);
  }

  asked(name: string): Asked[] {
    return this.#asked.get(name) ?? [];
  }

  byNumber(number: number): Numbered | undefined {
    if (number > ENDLESS / 2) return this.#unending(this.#endless, ENDLESS - number);
    for (const [key, known] of this.#numbers) {
      const [name = "", id = ""] = key.split("/");
      const item = known === number && this.#scenes.get(name)?.items.find((one) => one.id === id);
      if (item) return { ...item, scene: name, number };
    }
    return undefined;
  }

  page(name: string, first: number, count: number): { items: Numbered[]; total: number } {
    const { items, endless } = this.#scenes.get(name)!;
    if (endless) {
      const page = Array.from({ length: count }, (_, i) => this.#unending(name, first + i)!);
      return { items: page, total: ENDLESS };
    }
    const page: Numbered[] = [];
    for (const item of items.slice(first, first + count)) {
      page.push({ ...item, scene: name, number: this.#numbers.get(`${name}/${item.id}`)! });
    }
    return { items: page, total: items.length };
  }

  #unending(name: string, index: number): Numbered | undefined {
    const like = this.#scenes.get(name)?.items[0];
    return like && { ...like, id: `endless-${index}`, scene: name, number: ENDLESS - index };
  }
}

/** How a request is answered: JSON, or nothing where there is no such thing. */
export interface Route {
  scene: string;
  answer(): unknown;
}

export interface Request {
  url: URL;
  body: string;
  /** Of the server as it was asked. */
  origin: string;
  filesOrigin: string;
  isPixelfed: boolean;
}
