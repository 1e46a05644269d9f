import { z } from "zod";
import { isExempt, isPrivateAddress, privateAddressError, requirePublicUrl } from "./public-url.ts";

const RESOLVER = "https://cloudflare-dns.com/dns-query";
const TYPES = { A: 1, AAAA: 28 };

/** A name that DNS knows no address of. */
class NoAddressError extends Error {
  constructor() {
    super("The name has no address.");
  }
}

/** Says in a few words why a fetch failed before there was a response. */
export function unreachableReason(cause: unknown): string {
  return cause instanceof NoAddressError ? "its name has no address" : "the connection failed";
}

/** Resolves a name to its addresses, IPv6 ones in brackets. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<string[]>;

/**
 * Checks a URL like `requirePublicUrl`, and resolves its name: all of its addresses must be public.
 * The name may resolve to another address when the URL is fetched (DNS rebinding): a Worker can't
 * choose the address that `fetch` connects to. Throws `blocked_address`.
 */
export async function requirePublicTarget(
  text: string,
  allowed: string,
  signal: AbortSignal,
  resolve: Resolve = resolveName,
): Promise<URL> {
  const url = requirePublicUrl(text, allowed);
  if (isExempt(url, allowed) || isPrivateAddress(url.hostname) !== undefined) return url;
  const addresses = await resolve(url.hostname, signal);
  if (addresses.length === 0) throw new NoAddressError();
  if (addresses.some((address) => isPrivateAddress(address) ?? true)) throw privateAddressError();
  return url;
}

/**
 * Resolves A and AAAA records by DNS over HTTPS, in JSON:
 * https://developers.cloudflare.com/1.1.1.1/encryption/dns-over-https/make-api-requests/dns-json
 */
export async function resolveName(
  name: string,
  signal: AbortSignal,
  resolver: string = RESOLVER,
): Promise<string[]> {
  const resolveType = async (type: keyof typeof TYPES) => {
    const query = new URLSearchParams({ name, type });
    const headers = { accept: "application/dns-json" };
    const response = await fetch(`${resolver}?${query.toString()}`, { headers, signal });
    const { Answer } = dnsResponse.parse(await response.json());
    return Answer.filter((record) => record.type === TYPES[type]).map(({ data }) => data);
  };
  const [v4, v6] = await Promise.all([resolveType("A"), resolveType("AAAA")]);
  return [...v4, ...v6].map((address) => URL.parse(asUrl(address))?.hostname ?? address);
}

function asUrl(address: string): string {
  return `http://${address.includes(":") ? `[${address}]` : address}`;
}

const dnsResponse = z.object({
  Answer: z.array(z.object({ type: z.int(), data: z.string() })).default([]),
});
