import { searchFor } from "../search/request.ts";
import { search } from "../search/search.ts";
import type { Hit } from "../search/hits.ts";
import type { MediaIndexRow } from "../types.ts";
import { extractQuotes } from "./extract.ts";

export interface AnswerRequest {
  query: string;
  topK: number;
  markdown: boolean;
  assetIds: string[];
}

export interface Answer {
  text: string;
  /** False where the index doesn't say; then there are no citations. */
  grounded: boolean;
  /** In the order of their markers: `[1]` is the first. */
  citations: Hit[];
  model: string;
  usage: { inputTokens: number; outputTokens: number };
}

const NOTHING = "Nothing in this index answers that.";

/** Answers from what an index holds, with a citation for every claim. */
export async function answerQuestion(
  env: Env,
  index: MediaIndexRow,
  { query, topK, markdown, assetIds }: AnswerRequest,
): Promise<Answer> {
  const { hits } = await search(env, index.indexId, searchFor({ query, assetIds, topK }));
  const quotes = extractQuotes(query, hits);
  const lines = quotes.map(({ sentence }, i) => `${sentence} [${i + 1}]`);
  return {
    text: lines.length === 0 ? NOTHING : join(lines, markdown),
    grounded: lines.length > 0,
    citations: quotes.map(({ hit }) => hit),
    model: "extractive",
    usage: { inputTokens: 0, outputTokens: 0 },
  };
}

function join(lines: string[], markdown: boolean): string {
  return markdown ? lines.map((line) => `- ${line}`).join("\n") : lines.join(" ");
}
