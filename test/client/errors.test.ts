import { expect, it } from "vitest";
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  Sightline,
  SightlineError,
  ValidationError,
} from "../../client/src/index.ts";
import { newClient } from "../support/client.ts";
import { fetchService, newSightline, recordingFetch, refuse } from "./service.ts";

const url = "https://sightline.test";

/** Returns the error that a promise rejects with. */
async function errorOf(promise: PromiseLike<unknown>): Promise<SightlineError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof SightlineError) return error;
  throw error ?? new Error("The promise was fulfilled.");
}

it("an invalid request throws a ValidationError with every issue and the request id", async () => {
  const sightline = await newSightline();
  await sightline.indices.create({ index_name: "a" });
  const error = await errorOf(
    sightline.index("a").search({ query: "", top_k: 0, modes: ["smell"] as never }),
  );
  expect(error).toBeInstanceOf(ValidationError);
  const { issues } = error as ValidationError;
  expect(issues.map(({ loc, type }) => [loc, type])).toEqual([
    [["body", "query"], "string_too_short"],
    [["body", "top_k"], "greater_than_equal"],
    [["body", "modes", 0], "literal_error"],
  ]);
  expect(error.message).toContain("body.top_k: ");
  expect(error).toMatchObject({ status: 422, code: "invalid_request", name: "ValidationError" });
  expect(error.requestId).toMatch(/./);
});

it("an unknown key throws an AuthenticationError", async () => {
  const sightline = new Sightline({ url, apiKey: "sl_unknown", fetch: fetchService });
  const error = await errorOf(sightline.stats());
  expect(error).toBeInstanceOf(AuthenticationError);
  expect(error).toMatchObject({ status: 401, code: "unauthorized" });
});

it("a key without the scope throws a PermissionError", async () => {
  const { key } = await newClient(["read"]);
  const sightline = new Sightline({ url, apiKey: key, fetch: fetchService });
  const error = await errorOf(sightline.indices.create());
  expect(error).toBeInstanceOf(PermissionError);
  expect(error).toMatchObject({ status: 403, code: "forbidden" });
});

it("an unknown index throws a NotFoundError with the sentence of the service", async () => {
  const sightline = await newSightline();
  const error = await errorOf(sightline.index("none").assets());
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error).toMatchObject({ status: 404, code: "not_found" });
  expect(error.message).toBe('There is no index named "none".');
});

it("a name that is taken throws a ConflictError, without a retry", async () => {
  const { fetch, sent } = recordingFetch();
  const sightline = await newSightline({ fetch });
  await sightline.indices.create({ index_name: "a" });
  const error = await errorOf(sightline.indices.create({ index_name: "a" }));
  expect(error).toBeInstanceOf(ConflictError);
  expect(sent).toHaveLength(2);
});

it("a limit that lasts longer than a minute throws a RateLimitError at once", async () => {
  const { fetch, sent } = recordingFetch(refuse(429, { "retry-after": "3600" }));
  const sightline = await newSightline({ fetch });
  const error = await errorOf(sightline.stats());
  expect(error).toBeInstanceOf(RateLimitError);
  expect(error).toMatchObject({ status: 429, retryAfter: 3600, message: "Retry later." });
  expect(sent).toHaveLength(1);
});

it("a page of a proxy in place of JSON throws a ServerError with the status", async () => {
  const { fetch } = recordingFetch(() =>
    Promise.resolve(new Response("<html>Bad gateway</html>", { status: 502 })),
  );
  const sightline = await newSightline({ fetch, maxRetries: 0 });
  const error = await errorOf(sightline.stats());
  expect(error).toBeInstanceOf(ServerError);
  expect(error.message).toBe("The service answered with status 502.");
});

it("a service that doesn't answer throws a ConnectionError with the reason", async () => {
  const { fetch } = recordingFetch(() => Promise.reject(new TypeError("refused")));
  const sightline = await newSightline({ fetch, maxRetries: 0 });
  const error = await errorOf(sightline.stats());
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error.status).toBeUndefined();
  expect(error.message).toBe(`The service at ${url} does not answer. refused`);
});

it("a service that doesn't answer within the time limit throws a ConnectionError", async () => {
  const { fetch } = recordingFetch(() => new Promise(() => {}));
  const sightline = await newSightline({ fetch, maxRetries: 0, timeoutMs: 10 });
  const error = await errorOf(sightline.stats());
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error.message).toContain("No answer within 10 ms.");
});
