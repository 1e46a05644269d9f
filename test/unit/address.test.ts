import { describe, expect, it } from "vitest";
import { requirePublicUrl } from "../../src/fetching/address.ts";

describe("an address", () => {
  it.each([
    "http://example.org/a.mp4",
    "https://example.org:8443/a.mp4?x=1",
    "http://93.184.216.34/",
    "http://172.15.0.1/",
    "http://172.32.0.1/",
    "http://[2606:2800:220:1::1]/",
    "https://bücher.example/a.mp4",
  ])("is public: %s", (url) => {
    expect(requirePublicUrl(url, "").href).toBe(new URL(url).href);
  });

  it.each([
    "ftp://example.org/a.mp4",
    "file:///etc/passwd",
    "data:video/mp4;base64,AAAA",
    "javascript:alert(1)",
    "not a url",
    "",
    "http://user@example.org/",
    "http://user:password@example.org/",
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST:8787/",
    "http://a.localhost/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://intranet/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://0x7f.0.0.1/",
    "http://0x7f000001/",
    "http://127.0.0.1./",
    "http://0.0.0.0/",
    "http://10.1.2.3/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[fc00::1]/",
    "http://[fe80::1]/",
    "http://[ff02::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:db8::1]/",
    "http://①②⑦.0.0.1/",
  ])("is refused: %s", (url) => {
    expect(() => requirePublicUrl(url, "")).toThrow(
      expect.objectContaining({ code: "blocked_address" }),
    );
  });

  it("is exempt by host and port only", () => {
    const allowed = "127.0.0.1:9000,files.internal:80";
    expect(requirePublicUrl("http://127.0.0.1:9000/a.mp4", allowed).port).toBe("9000");
    expect(() => requirePublicUrl("http://127.0.0.1:9001/a.mp4", allowed)).toThrow();
    expect(() => requirePublicUrl("http://127.0.0.1:9000@127.0.0.1/", allowed)).toThrow();
  });
});
