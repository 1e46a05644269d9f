import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Sightline } from "../../../client/src/index.ts";
import { PROJECT } from "../../../tools/stack/local-state.ts";

/** Members of `Collection` that only its subclasses use. */
const PROTECTED = new Set(["constructor", "pathOf", "transport", "indexPath"]);

/** Lists the methods of an object and of its parts, by the name of the object. */
function listMethods(name: string, part: object): Record<string, string[]> {
  const names = new Set<string>();
  for (let type = part; type !== Object.prototype; type = Object.getPrototypeOf(type) as object) {
    for (const key of Object.getOwnPropertyNames(type)) {
      if (!PROTECTED.has(key) && typeof Reflect.get(type, key, part) === "function") names.add(key);
    }
  }
  const parts = Object.entries(part).filter(
    ([key, value]) => !PROTECTED.has(key) && typeof value === "object",
  );
  return Object.assign(
    { [name]: [...names].toSorted() },
    ...parts.map(([key, value]) => listMethods(`${name}.${key}`, value as object)),
  ) as Record<string, string[]>;
}

it("the page of the client lists every method of every object, and no other", () => {
  const page = readFileSync(join(PROJECT, "docs/client.md"), "utf8");
  const listed: Record<string, string[]> = {};
  for (const [, name = "", method = ""] of page.matchAll(
    /^((?:sightline|index)[.\w]*)\.(\w+)\(/gm,
  )) {
    listed[name] = [...(listed[name] ?? []), method].toSorted();
  }
  const sightline = new Sightline({ url: "http://127.0.0.1", apiKey: "" });
  expect(listed).toEqual({
    ...listMethods("sightline", sightline),
    ...listMethods("index", sightline.index("a")),
  });
});
