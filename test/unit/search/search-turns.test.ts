import { beforeEach, expect, it } from "vitest";
import { type AccountId, type IndexId, trustedId } from "../../../src/ids.ts";
import { clearIsolate } from "../../../src/isolate-memory.ts";
import { SEARCH_TURNS } from "../../../src/parameters.ts";
import { makeSearchRequest } from "../../../src/search/request.ts";
import { search, searchInTurn } from "../../../src/search/search.ts";

beforeEach(clearIsolate);

const [one, other] = ["acc_1", "acc_2"] as AccountId[];

it("searches that fill an account's share run one after the other, beside those of others", async () => {
  const events: string[] = [];
  const first = Promise.withResolvers<void>();
  const run = (name: string, account: AccountId, units: number, until?: Promise<void>) =>
    searchInTurn(account, units, async () => {
      events.push(`${name} starts`);
      await until;
      events.push(`${name} ends`);
    });
  const large = run("large", one!, 5 * SEARCH_TURNS.maxUnits, first.promise);
  const small = run("small", one!, 1);
  await run("other", other!, SEARCH_TURNS.maxUnits);
  first.resolve();
  await Promise.all([large, small]);
  expect(events).toEqual([
    "large starts",
    "other starts",
    "other ends",
    "large ends",
    "small starts",
    "small ends",
  ]);
});

it("searches of an account run at once, and singly after another account's search", async () => {
  const running = new Set<number>();
  const counts: number[] = [];
  const searchFour = () =>
    Promise.all(
      [1, 2, 3, 4].map((number) =>
        searchInTurn(one!, 1, async () => {
          running.add(number);
          counts.push(running.size);
          await new Promise((resolve) => setTimeout(resolve));
          running.delete(number);
        }),
      ),
    );
  await searchFour();
  await searchInTurn(other!, 1, () => Promise.resolve());
  await searchFour();
  expect(counts).toEqual([1, 2, 3, 4, 1, 1, 1, 1]);
});

it("a search that has waited for its turn keeps later ones waiting", async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const events: string[] = [];
  const run = (name: string, until?: Promise<void>) =>
    searchInTurn(one!, SEARCH_TURNS.maxUnits, async () => {
      events.push(name);
      await until;
      events.push(`${name} ends`);
    });
  const running = run("first", first.promise);
  const waiting = run("second", second.promise);
  first.resolve();
  await running;
  await expect.poll(() => events).toContain("second");
  const later = run("third");
  await searchInTurn(other!, SEARCH_TURNS.maxUnits, () => Promise.resolve());
  second.resolve();
  await Promise.all([waiting, later]);
  expect(events).toEqual(["first", "first ends", "second", "second ends", "third", "third ends"]);
});

it("a search that fails ends its turn", async () => {
  const fail = () => Promise.reject(new Error("no"));
  await expect(searchInTurn(one!, SEARCH_TURNS.maxUnits, fail)).rejects.toThrow("no");
  expect(await searchInTurn(one!, SEARCH_TURNS.maxUnits, () => Promise.resolve(1))).toBe(1);
});

it("a plain search, as of an answer or an image, reads nothing before its account's turn", async () => {
  const holding = Promise.withResolvers<void>();
  const held = searchInTurn(one!, SEARCH_TURNS.maxUnits, () => holding.promise);
  const read: PropertyKey[] = [];
  const env = new Proxy({} as Env, {
    get(_, binding) {
      read.push(binding);
      throw new Error("no binding");
    },
  });
  const index = { accountId: one!, indexId: trustedId<IndexId>("ind_1"), name: "trip", shards: [] };
  const request = makeSearchRequest({ similarTo: "seg_1", topK: 1 });
  const searching = search(env, index, request);
  await new Promise((resolve) => setTimeout(resolve));
  expect(read).toEqual([]);
  holding.resolve();
  await expect(searching).rejects.toThrow("no binding");
  await held;
});
