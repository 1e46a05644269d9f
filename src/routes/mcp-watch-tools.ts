import { z } from "@hono/zod-openapi";
import { ID_CHARACTERS } from "../ids.ts";
import { formatMatches, formatWatch, formatWatches } from "./mcp-text.ts";
import { CURSOR, defineTool, FILTER, INDEX_NAME, indexPath, LIMIT } from "./mcp-tool.ts";
import { mcpMatchPage, mcpWatch, mcpWatchPage } from "./records/mcp-record.ts";
import { newWatch, watchChange, watchId } from "./records/watch-record.ts";

const WATCH_ID = z.string().max(ID_CHARACTERS).describe("The watch, as list_watches names it.");

/**
 * Fields of a new watch that a model sets. A webhook isn't among them: a transcript could tell the
 * model to send matches elsewhere.
 */
const { name, query, similar_to, modes, asset_types, min_probability, paused } = newWatch.shape;

/** Tools of the watches of an index. */
export const WATCH_TOOLS = [
  defineTool("list_watches", {
    title: "List watches",
    description:
      "Lists the watches of an index: queries that announce each new moment which matches, with " +
      "how many have matched so far.",
    input: z.object({ index_name: INDEX_NAME, limit: LIMIT, cursor: CURSOR.optional() }),
    output: mcpWatchPage,
    toRequest: ({ index_name: name, ...query }) => ({ path: `${indexPath(name)}/watches`, query }),
    formatOutput: formatWatches,
  }),
  defineTool("list_watch_matches", {
    title: "List the matches of a watch",
    description:
      "Lists the moments that have matched a watch, of the newest videos and images first, with " +
      "their times in seconds, scores and clip_url.",
    input: z.object({
      index_name: INDEX_NAME,
      watch_id: WATCH_ID,
      limit: LIMIT,
      cursor: CURSOR.optional(),
    }),
    output: mcpMatchPage,
    toRequest: ({ index_name: name, watch_id: id, ...query }) => ({
      path: `${watchPath(name, id)}/matches`,
      query,
    }),
    formatOutput: formatMatches,
  }),
  defineTool("create_watch", {
    title: "Create a watch",
    writes: "adds",
    description:
      "Announces from now on each new moment that matches words, or is like a segment or an asset. " +
      "What is there already doesn't match: use search for that. Give query, similar_to or both.",
    input: z.object({
      index_name: INDEX_NAME,
      name,
      query,
      similar_to,
      modes,
      asset_types,
      filter: FILTER.default({}),
      min_probability,
      paused,
    }),
    output: mcpWatch,
    toRequest: ({ index_name: index, ...body }) => ({ path: `${indexPath(index)}/watches`, body }),
    formatOutput: (watch) => `Created.\n${formatWatch(watch)}`,
  }),
  defineTool("update_watch", {
    title: "Change or pause a watch",
    writes: "changes",
    description:
      "Changes what is given of a watch, for what is added from now on: paused true announces " +
      "nothing for now, false resumes it. Its matches so far stay.",
    input: z.object({
      index_name: INDEX_NAME,
      watch_id: WATCH_ID,
      ...watchChange.omit({ webhook_url: true }).shape,
      filter: FILTER.optional(),
    }),
    output: mcpWatch,
    toRequest: ({ index_name: index, watch_id: id, ...body }) => ({
      method: "PATCH",
      path: watchPath(index, id),
      body,
    }),
    formatOutput: (watch) => `Changed.\n${formatWatch(watch)}`,
  }),
  defineTool("delete_watch", {
    title: "Delete a watch",
    writes: "deletes",
    description:
      "Deletes a watch and its list of matches for good. The videos and images stay. To stop it " +
      "for a while, use update_watch with paused.",
    input: z.object({ index_name: INDEX_NAME, watch_id: WATCH_ID }),
    output: z.object({ watch_id: watchId, deleted: z.literal(true) }),
    toRequest: ({ index_name: index, watch_id: id }) => ({
      method: "DELETE",
      path: watchPath(index, id),
    }),
    formatOutput: ({ watch_id: id }) => `Deleted ${id}.`,
  }),
];

function watchPath(index: string, id: string): string {
  return `${indexPath(index)}/watches/${encodeURIComponent(id)}`;
}
