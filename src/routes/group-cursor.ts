import { INDEX_GROUP } from "../parameters.ts";
import { isCursorPosition } from "./records/search-result.ts";

const CURSOR = /^([\w-]+)((?:\.[\w-]{8})+)$/;

/** A page of a search over several indices. */
interface GroupCursor {
  /** The cursor of a search of one index. */
  position: string;
  /** Tags of the indices that the first page has. */
  tags: string[];
}

/** Parses a cursor; null for the first page, and for text that is none. */
export function parseGroupCursor(cursor: string | undefined): GroupCursor | null {
  const [, position = "", list = ""] = CURSOR.exec(cursor ?? "") ?? [];
  const tags = list.slice(1).split(".");
  if (!isCursorPosition(position) || tags.length > INDEX_GROUP.maxIndices) return null;
  return { position, tags };
}

export function formatGroupCursor(position: string, tags: readonly string[]): string {
  return [position, ...tags].join(".");
}
