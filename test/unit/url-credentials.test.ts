import { describe, expect, it } from "vitest";
import { withoutCredentials } from "../../src/url-credentials.ts";

const FILE = "https://files.example/a%20b/film.mp4";

describe("withoutCredentials", () => {
  it.each([
    "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a&X-Amz-Expires=60&X-Amz-Signature=b",
    "?x-amz-security-token=a",
    "?AWSAccessKeyId=a&Expires=1&Signature=b",
    "?GoogleAccessId=a&Expires=1&Signature=b",
    "?X-Goog-Signature=a",
    "?Policy=a&Signature=b&Key-Pair-Id=c",
    "?sv=2024-11-04&se=2026-01-01&sr=b&sp=r&sig=a",
    "?token=a",
    "?access_token=a",
    "?verify=1&auth=a",
    "?api_key=a",
    "?apikey=a",
    "?key=a",
    "?jwt=a",
    "?hdnts=exp=1~hmac=a",
    "?page=2&%73ig=a",
    "?TOKEN=a",
    "?password=a#fragment",
  ])("leaves out the query of a URL with %s", (query) => {
    expect(withoutCredentials(FILE + query)).toBe(FILE);
  });

  it.each([
    "?v=dQw4w9WgXcQ",
    "?id=5&page=2",
    "?list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf",
    "?design=1",
  ])("keeps a query without a credential: %s", (query) => {
    expect(withoutCredentials(FILE + query)).toBe(FILE + query);
  });

  it("leaves out user info and the fragment, which may be a token", () => {
    expect(withoutCredentials("https://a:b@files.example/x?v=1#access_token=c")).toBe(
      "https://files.example/x?v=1",
    );
  });

  it.each(["", "a film", "dQw4w9WgXcQ", "https://", "ftp://a.example/?token=b"])(
    "keeps what is no URL of http: %j",
    (text) => {
      expect(withoutCredentials(text)).toBe(text);
    },
  );
});
