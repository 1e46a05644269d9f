import { describe, expect, it } from "vitest";
import { AppError, isDeferrable } from "../../../src/errors.ts";
import { isOversize, toModelError } from "../../../src/models/run.ts";

const toError = (message: string) => toModelError("a-model", new Error(message));
const secondsToMidnight = () => 86_400 - ((Date.now() / 1000) % 86_400);

describe("an error of Workers AI", () => {
  it.each<[string, string, min: number, max: number]>([
    ["a rate limit", "3021: Rate limit exceeded", 65, 90],
    ["a full platform", "3040: Capacity temporarily exceeded", 30, 55],
    ["a used-up day", "3036: You have used up", secondsToMidnight() - 5, secondsToMidnight() + 26],
  ])("about %s is deferrable and says when to return", (_, message, min, max) => {
    const error = toError(message);
    expect(isDeferrable(error)).toBe(true);
    expect(error.code).toBe("upstream_unavailable");
    expect(error.retryAfter).toSatisfy(Number.isInteger);
    expect(error.retryAfter).toBeGreaterThanOrEqual(min);
    expect(error.retryAfter).toBeLessThanOrEqual(max);
  });

  it.each([
    ["3007: Request timeout", "upstream_timeout"],
    ["3006: Request is too large", "model_request_rejected"],
    ["3008: Request was aborted", "upstream_timeout"],
    [
      "3030: Max context reached 85920 tokens but model supports only 60000",
      "model_request_rejected",
    ],
    ["5007: No such model or task", "model_not_found"],
    ["5035: This needs a paid plan", "model_not_found"],
    ["3010: Invalid input", "model_request_rejected"],
    ["5006: Error: oneOf at '/' not met", "model_request_rejected"],
    ["5025: This model doesn't support JSON Schema", "model_request_rejected"],
    ["8001: Invalid input", "model_request_rejected"],
    ["AiError: Bad input: Error: oneOf at '/' not met", "model_request_rejected"],
    ["5024: JSON Mode couldn't be met", "model_output_unreadable"],
    ["9999: Something else", "upstream_failed"],
    ["Network connection lost", "upstream_failed"],
  ])("%s becomes %s, which is not deferrable", (message, code) => {
    const error = toError(message);
    expect(error).toMatchObject({ code, retryAfter: undefined });
    expect(isDeferrable(error)).toBe(false);
  });

  it.each([
    [
      "5007: No such model @cf/a or task. No speech recogniser: `npm run models -- pull whisper-base`.",
      /No speech recogniser: `npm run models -- pull whisper-base`/,
    ],
    ["5007: No such model or task", /The operator of this deployment can choose another/],
  ])("about a missing model says what to do: %s", (message, expected) => {
    expect(toError(message).message).toMatch(expected);
  });

  it.each<[string, boolean]>([
    ["3006: Request is too large", true],
    ["413: Payload", true],
    ["3030: Max context reached 85920 tokens but model supports only 60000", true],
    ["5006: Max context reached 77841 tokens but model supports only 60000", true],
    ["3010: AiError: The estimated number of tokens (9) exceeded this model context window", true],
    ["5021: The estimated number of tokens (9) exceeded this model context window limit (8)", true],
    ["3010: Invalid or incomplete input: Sequence too long: 613 > 512", true],
    ["AiError: This model's maximum context length is 8192 tokens", true],
    ["5006: Error: too many tokens in the batch", true],
    ["3010: Invalid input", false],
    ["3021: Rate limit exceeded", false],
    ["3007: Request timeout", false],
    ["5007: No such model or task", false],
    ["Network connection lost", false],
  ])("%s means that a part of the input may be taken: %s", (message, expected) => {
    expect(isOversize(toError(message))).toBe(expected);
  });

  it("about a cancelled call becomes a timeout", () => {
    const error = toModelError("a-model", AbortSignal.abort().reason);
    expect(error).toMatchObject({ code: "upstream_timeout" });
    expect(error.message).toBe("The model a-model had its call cancelled (3008).");
  });

  it("that is an error of the service already stays as it is", () => {
    const error = new AppError("too_large", "It is too large.");
    expect(toModelError("a-model", error)).toBe(error);
  });
});
