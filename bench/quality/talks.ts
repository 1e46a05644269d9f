import { readStatements } from "../../tools/facts/statements.ts";
import { answerSuite } from "../answers/answer-suite.ts";
import { writeFactMedia } from "../answers/fact-media.ts";

const TALKS = new URL("../answers/talks-held-out.txt", import.meta.url);

export const suite = answerSuite(
  "the same for talks whose subject is named some sentences before the answer",
  async (folder) => {
    return [{ indexName: "talks", ...(await writeFactMedia(folder, readStatements(TALKS))) }];
  },
);
