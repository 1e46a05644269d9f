import { beforeAll, describe, expect, it } from "vitest";
import { type Client, type Json, newClient, fixture } from "../support/client.ts";
import { assetRefOf, runInIndex } from "../support/store-queries.ts";

let client: Client;

const EVENING = "2024-05-31T22:30:00.000Z";
const CREATED = Date.UTC(2024, 4, 31, 22, 30);
const METADATA = {
  day: "2024-05-31",
  time: "2024-06-01T00:30:00+02:00",
  people: [{ name: "Ann" }, { name: "Bob", pets: [{ name: "Rex" }] }],
  // Decomposed, as names of files of macOS are.
  ["cafe\u0301"]: "Zoe\u0308",
};

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "values" } });
  const form = { image_file: await fixture("words.jpg"), metadata_str: JSON.stringify(METADATA) };
  const image: Json = await client.json("POST", "/index/values/image", { form });
  await client.waitForAsset("values", image);
  await runInIndex(
    await assetRefOf(image),
    `UPDATE assets SET created_at = ?, technical = json_set(technical, '$.taken_at', ?)`,
    CREATED,
    EVENING,
  );
});

async function count(filter: Json): Promise<number> {
  const json = { filter, group_by: "asset" };
  return (await client.json("POST", "/index/values/aggregate", { json })).total.count;
}

describe.each([
  ["technical.taken_at", "2024-05-31"],
  ["created_at", "2024-05-31"],
  ["day", "2024-05-31"],
  ["time", "2024-05-31"],
])("a day as a bound of %s is the whole day", (field, day) => {
  it.each<[unknown, number]>([
    [day, 1],
    [{ $eq: day }, 1],
    [{ $in: ["2020-01-01", day] }, 1],
    [{ $lte: day }, 1],
    [{ $gte: day }, 1],
    [{ $gte: day, $lte: day }, 1],
    [{ $gt: "2024-05-30" }, 1],
    [{ $gt: day }, 0],
    [{ $lt: day }, 0],
    [{ $ne: day }, 0],
    [{ $nin: [day] }, 0],
    ["2024-06-01", 0],
  ])("%j finds %i", async (rule, found) => {
    expect(await count({ [field]: rule })).toBe(found);
  });
});

describe("a filter", () => {
  it.each<[Json, number]>([
    [{ "technical.taken_at": { $gt: "2024-05-31T22:00:00Z" } }, 1],
    [{ "technical.taken_at": "2024-06-01T00:30:00+02:00" }, 1],
    [{ created_at: { $lte: "2024-05-31T22:29:59Z" } }, 0],
    [{ duration_seconds: { $lt: 60 } }, 0],
    [{ duration_seconds: 0 }, 0],
    [{ duration_seconds: null }, 1],
    [{ duration_seconds: { $ne: 0 } }, 1],
    [{ "people.name": "Ann" }, 1],
    [{ "people.name": "Bob" }, 1],
    [{ "people.name": "Rex" }, 0],
    [{ "people.pets.name": "Rex" }, 1],
    [{ "people.name": { $ne: "Ann" } }, 0],
    [{ "people.name": null }, 0],
    [{ "people.age": null }, 1],
    [{ "caf\u00e9": "Zo\u00eb" }, 1],
    [{ "cafe\u0301": "Zoe\u0308" }, 1],
  ])("%j finds %i", async (filter, found) => {
    expect(await count(filter)).toBe(found);
  });

  it("agrees with the counts by a field", async () => {
    for (const [group_by, keys] of [
      ["metadata.people.name", ["Ann", "Bob"]],
      ["metadata.people.pets.name", ["Rex"]],
      ["metadata.caf\u00e9", ["Zo\u00eb"]],
    ] as const) {
      const json = { group_by };
      const { groups } = await client.json("POST", "/index/values/aggregate", { json });
      expect(groups.map(({ key }: Json) => key).toSorted()).toEqual(keys);
    }
  });

  it("gives back metadata as they were sent", async () => {
    const { assets } = await client.json("GET", "/index/values");
    expect(assets[0].metadata).toEqual(METADATA);
  });
});

it.each<[Json, string | null]>([
  [{ peopel: "Ann" }, "No asset has the field “peopel” of the filter."],
  [{ "people.nmae": { $ne: "Ann" } }, "No asset has the field “people.nmae” of the filter."],
  [{ "people.name": "Rex", "technical.len": 1 }, "No asset has the field “technical.len” of the"],
  [
    { "people.name": 7 },
    "Assets have a text in the field “people.name”, not what the filter gives.",
  ],
  [{ "people.name": { $in: [7, "Rex"] } }, null],
  [{ taken_at: "2024-01-01" }, "Use `technical.taken_at`."],
  [{ duration: { $gt: 3 } }, "Use `duration_seconds`."],
  [{ folder: "Elsewhere" }, "No asset is in that folder."],
  [{ "people.name": { $ne: true } }, "Assets have a text in the field “people.name”"],
  [{ "people.name": null }, null],
  [{ "people.name": "Rex" }, null],
  [{ "people.name": { $ne: "Rex" } }, null],
])(
  "a search by %j gets a hint on fields that no asset has, or with values of another type",
  async (filter, hint) => {
    const json = { query: "boat", filter };
    const { query } = await client.json("POST", "/index/values/search", { json });
    if (hint === null) expect(query.hint).toBeNull();
    else expect(query.hint).toContain(hint);
  },
);
