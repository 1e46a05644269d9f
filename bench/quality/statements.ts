import { readStatements } from "../../tools/facts/statements.ts";
import { answerSuite } from "../answers/answer-suite.ts";
import { writeFactMedia } from "../answers/fact-media.ts";

const STATEMENTS = new URL("../answers/statements.txt", import.meta.url);

export const suite = answerSuite(
  "the same for captions and speech, and questions that people wrote about them",
  async (folder) => {
    return [
      { indexName: "statements", ...(await writeFactMedia(folder, readStatements(STATEMENTS))) },
    ];
  },
);
