import { describe, expect, it } from "vitest";
import { describeAuthor } from "../../../../client/src/cli/commands/answer.ts";
import { sumUsage } from "../../../../client/src/cli/commands/stats.ts";
import { describeEvidence } from "../../../../client/src/cli/evidence-text.ts";
import { describeFailure } from "../../../../client/src/cli/failure.ts";
import { hyperlink, takesColour, takesHyperlinks } from "../../../../client/src/cli/output.ts";
import {
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  ValidationError,
} from "../../../../client/src/errors.ts";

it.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: "1" }, false],
  [true, { TERM: "dumb" }, false],
])("a terminal (%s) with %j takes colours: %s", (isTerminal, env, expected) => {
  expect(takesColour(isTerminal, env)).toBe(expected);
});

it.each([
  [true, { TERM: "xterm-256color" }, false],
  [true, { VTE_VERSION: "7200" }, true],
  [true, { VTE_VERSION: "4000" }, false],
  [true, { TERM_PROGRAM: "iTerm.app" }, true],
  [false, { TERM_PROGRAM: "iTerm.app" }, false],
  [false, { FORCE_HYPERLINK: "1" }, true],
  [true, { VTE_VERSION: "7200", FORCE_HYPERLINK: "0" }, false],
])("a terminal (%s) with %j takes hyperlinks: %s", (isTerminal, env, expected) => {
  expect(takesHyperlinks(isTerminal, env)).toBe(expected);
});

describe("a hyperlink", () => {
  it("leads to a web address", () => {
    expect(hyperlink("play", "https://a.example/f#t=1,2")).toBe(
      "\u001B]8;;https://a.example/f#t=1,2\u001B\\play\u001B]8;;\u001B\\",
    );
  });

  it.each(["javascript:alert(1)", "file:///etc/passwd", "nothing"])("isn't made of %s", (url) => {
    expect(hyperlink("play", url)).toBe("play");
  });
});

it.each([
  [[{ kind: "speech", score: 1, text: "the <mark>boat</mark> &amp; I" }], "speech: the «boat» & I"],
  [[{ kind: "visual", score: 1 }], "visual: A boat."],
  [[], ""],
] as const)("the evidence %j reads %j", (evidence, text) => {
  const fields = { caption: "A boat.", transcript: "", on_screen_text: "" };
  expect(describeEvidence({ evidence: [...evidence], ...fields })).toBe(text);
});

it.each([
  [new AuthenticationError("The key is unknown.", { requestId: "r1" }), 4, "login"],
  [new NotFoundError("No index.", { status: 404, requestId: "r1" }), 3, "No index. (request r1)"],
  [new RateLimitError("Too many.", { retryAfter: 2.5 }), 1, "Try again in 3 s."],
  [new ConnectionError("No answer."), 1, "Is the service running"],
  [
    new ValidationError("Invalid.", {
      issues: [{ loc: ["body", "query"], msg: "too long", type: "value_error" }],
    }),
    2,
    "query: too long.",
  ],
  [new Error("a\u001B[2Jb"), 1, "a [2Jb"],
])("%s ends a command with the code %i and says what to do", (error, exitCode, text) => {
  const failure = describeFailure(error);
  expect(failure.exitCode).toBe(exitCode);
  expect(failure.message).toContain(text);
});

it("the author of an answer is its model, or nobody for quotations", () => {
  expect(describeAuthor("extractive")).toBe("Quoted without a language model.");
  expect(describeAuthor("gpt")).toBe("Written by the model gpt.");
});

it("the usage of a month is the sum of its days", () => {
  const day = {
    searches: 1,
    answers: 2,
    ingested_seconds: 3,
    ingested_images: 4,
    model_calls: 5,
    estimated_cost_usd: 0.5,
  };
  expect(sumUsage([day, day])).toMatchObject({ searches: 2, estimated_cost_usd: 1 });
});
