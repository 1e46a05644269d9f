import { z } from "zod";
import { isExempt, isPrivateAddress, leadsInside, requirePublicUrl } from "./address.ts";

const RESOLVER = "https://cloudflare-dns.com/dns-query";
const TYPES = { A: 1, AAAA: 28 };

/** The addresses of a name, of IPv6 in brackets. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<string[]>;

/**
 * As `requirePublicUrl`, and a name must have addresses of which none is private. What it has a moment later,
 * when it is fetched, nobody can say: a Worker can't fetch from an address of its choice.
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
  if (addresses.length === 0) throw new Error("The name has no address.");
  if (addresses.some((address) => isPrivateAddress(address) ?? true)) throw leadsInside();
  return url;
}

/**
 * Asks by DNS over HTTPS
 * (https://developers.cloudflare.com/1.1.1.1/encryption/dns-over-https/make-api-requests/dns-json/).
 */
export async function resolveName(
  name: string,
  signal: AbortSignal,
  resolver: string = RESOLVER,
): Promise<string[]> {
  const ask = async (type: keyof typeof TYPES) => {
    const query = new URLSearchParams({ name, type });
    const headers = { accept: "application/dns-json" };
    const response = await fetch(`${resolver}?${query.toString()}`, { headers, signal });
    const { Answer } = answer.parse(await response.json());
    return Answer.filter((record) => record.type === TYPES[type]).map(({ data }) => data);
  };
  const [short, long] = await Promise.all([ask("A"), ask("AAAA")]);
  return [...short, ...long].map((address) => URL.parse(asUrl(address))?.hostname ?? address);
}

function asUrl(address: string): string {
  return `http://${address.includes(":") ? `[${address}]` : address}`;
}

const answer = z.object({
  Answer: z.array(z.object({ type: z.int(), data: z.string() })).default([]),
});
