import * as z from "zod";

/** Schemas of the items of bounded lists, for what walks a schema. */
export const LIST_ITEMS = z.registry<{ item: object }>();

/** Items that are parsed at once. */
const BATCH = 64;

/**
 * Schema of a list of at most `max` items, which are parsed up to the first batch with an invalid
 * one. `z.array` parses all items before it counts them, and collects the issues of each: a list of
 * a million empty objects takes it seconds.
 */
export function boundedList<Item extends z.ZodType>(item: Item, max: number, min = 0) {
  const batch = z.array(item);
  const length = z
    .custom<unknown[]>(Array.isArray, { params: { type: "list_type" } })
    .refine((items) => items.length >= min, { abort: true, params: { type: "too_short" } })
    .refine((items) => items.length <= max, { abort: true, params: { type: "too_long" } });
  const list = length.transform((items, ctx): z.output<Item>[] => {
    const parsed: z.output<Item>[] = [];
    for (let at = 0; at < items.length; at += BATCH) {
      const result = batch.safeParse(items.slice(at, at + BATCH));
      if (!result.success) {
        for (const { path, ...issue } of result.error.issues) {
          const [i, ...rest] = path as [number, ...PropertyKey[]];
          const located = { ...issue, path: [at + i, ...rest], input: items[at + i] };
          ctx.issues.push(located as z.core.$ZodRawIssue);
        }
        return z.NEVER;
      }
      for (const value of result.data) parsed.push(value);
    }
    return parsed;
  });
  LIST_ITEMS.add(list, { item });
  return list;
}
