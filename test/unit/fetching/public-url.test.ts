import { describe, expect, it } from "vitest";
import { requirePublicUrl } from "../../../src/fetching/public-url.ts";
import { PUBLIC_URLS, BLOCKED_URLS } from "../../support/addresses.ts";

describe("requirePublicUrl", () => {
  it.each(PUBLIC_URLS)("accepts %j", (url, host) => {
    expect(requirePublicUrl(url, "").host).toBe(host);
  });

  const blocked = Object.entries(BLOCKED_URLS).flatMap(([reason, urls]) =>
    urls.map((url): [string, string] => [reason, url]),
  );
  it.each(blocked)("blocks %s: %j", (_, url) => {
    expect(() => requirePublicUrl(url, "")).toThrow(
      expect.objectContaining({ code: "blocked_address" }),
    );
  });

  it("says of a blocked port that another protocol uses it", () => {
    expect(() => requirePublicUrl("https://example.com:25/hook", "")).toThrow(
      "The URL names port 25, which another protocol uses; give a public one.",
    );
  });

  it("exempts URLs by host and port only", () => {
    const allowed = "127.0.0.1:9000,files.internal:80,127.0.0.1:25";
    expect(requirePublicUrl("http://127.0.0.1:9000/a.mp4", allowed).port).toBe("9000");
    expect(requirePublicUrl("http://0x7f.1:25/a.mp4", allowed).port).toBe("25");
    expect(() => requirePublicUrl("http://127.0.0.1:9001/a.mp4", allowed)).toThrow();
    expect(() => requirePublicUrl("http://127.0.0.1:9000@127.0.0.1/", allowed)).toThrow();
    expect(() => requirePublicUrl("http://a:b@127.0.0.1:9000/", allowed)).toThrow();
    expect(() => requirePublicUrl("ftp://127.0.0.1:9000/", allowed)).toThrow();
    expect(() => requirePublicUrl("http://localhost/", "")).toThrow();
    expect(() => requirePublicUrl("http://", "")).toThrow();
  });
});
