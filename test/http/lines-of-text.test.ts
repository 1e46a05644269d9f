import { expect, it } from "vitest";
import type { z } from "zod";
import { ROUTERS } from "../../src/app.ts";
import { INVISIBLE_TEXTS, isVisible } from "../support/invisible-text.ts";

/** Texts that are neither stored nor shown to others, and that may have any characters. */
const NOT_SHOWN =
  /\.(?:system_prompt|cursor|similar_to|search_id|segment_id|asset_id|webhook_url)$/;
/** Ids, and names that are looked up: text that isn't one finds nothing. */
const LOOKED_UP =
  /\.(?:asset_ids|more_like|less_like|skipped|segments|facets|group_by|url|video_url|image_url|after)(?:\.|$)/;

/** Yields the schemas of texts in a schema, with their paths. */
function* listTexts(schema: z.core.$ZodType, path: string): Generator<[string, z.core.$ZodType]> {
  const def = (schema as z.core.$ZodTypes)._zod.def;
  switch (def.type) {
    case "string":
      yield [path, schema];
      break;
    case "object":
      for (const [name, field] of Object.entries(def.shape)) {
        yield* listTexts(field, `${path}.${name}`);
      }
      break;
    case "array":
      yield* listTexts(def.element, path);
      break;
    case "union":
      for (const option of def.options) yield* listTexts(option, path);
      break;
    case "pipe":
      yield [path, schema];
      break;
    case "lazy":
      break; // filters, whose values are compared with metadata
    default:
      if ("innerType" in def) yield* listTexts(def.innerType, path);
  }
}

const texts = ROUTERS.flatMap(({ endpoints }) => endpoints).flatMap((endpoint) => {
  const { method, path, query, body } = endpoint;
  return Object.entries({ body, query }).flatMap(([part, schema]) =>
    schema ? Array.from(listTexts(schema, `${method} ${path} ${part}`)) : [],
  );
});

it("every text of a request is read as one line or as lines, or is an id", () => {
  expect(texts.length).toBeGreaterThan(60);
  const bypassing = texts.filter(([path, schema]) => {
    if (NOT_SHOWN.test(path) || LOOKED_UP.test(path)) return false;
    return INVISIBLE_TEXTS.some((text) => {
      const parsed = (schema as z.ZodType).safeParse(text);
      return parsed.success && typeof parsed.data === "string" && !isVisible(parsed.data);
    });
  });
  expect(bypassing.map(([path]) => path)).toEqual([]);
});
