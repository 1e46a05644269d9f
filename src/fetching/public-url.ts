import ipaddr from "ipaddr.js";
import * as z from "zod";
import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { hasUserInfo, parseWebUrl } from "../web-url.ts";

/*
 * Guard against server-side request forgery (SSRF, CWE-918): a URL of a stranger must not make the
 * service fetch what only its own network can reach.
 */

/** Networks that `ipaddr.js` takes for public. */
const PRIVATE = [
  "168.63.129.16/32", // metadata address of a cloud
  "2001::/23", // Teredo and other protocol assignments
  "3fff::/20", // documentation
].map((network) => ipaddr.parseCIDR(network));

/** Global unicast: no other IPv6 address is public. */
const GLOBAL_V6 = ipaddr.parseCIDR("2000::/3");

const PRIVATE_SUFFIXES =
  "localhost local internal intranet private lan home corp localdomain svc arpa metadata.goog"
    .split(" ")
    .map((suffix) => `.${suffix}`);

/** Ports of other protocols (https://fetch.spec.whatwg.org/#port-blocking). */
const BAD_PORTS = new Set(
  `0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111
  113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548
  554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566
  6665 6666 6667 6668 6669 6679 6697 10080`.split(/\s+/),
);

/**
 * Parses a URL that may be fetched: http or https, not too long, without credentials, to a public
 * address or a public-looking name, and not to another protocol's port. `allowed` lists
 * `host:port`s, separated by commas, that are exempt from the last two rules. The URL parser
 * normalises every notation of an address. Throws `blocked_address`.
 */
export function requirePublicUrl(text: string, allowed: string): URL {
  const url = parseWebUrl(text);
  if (!url) throw blocked("is not an http or https URL");
  if (url.href.length > LIMITS.urlCharacters) {
    throw blocked(`has more than ${LIMITS.urlCharacters} characters`);
  }
  if (hasUserInfo(url)) throw blocked("carries a user name or password");
  if (isExempt(url, allowed)) return url;
  if (BAD_PORTS.has(url.port)) throw blocked(`names port ${url.port}, which another protocol uses`);
  if (isPrivateAddress(url.hostname) ?? isPrivateName(url.hostname)) throw privateAddressError();
  return url;
}

function isExempt({ host }: URL, allowed: string): boolean {
  return allowed.split(",").includes(host);
}

/** Says if a URL's `hostname` is a private address; undefined for a name. */
function isPrivateAddress(host: string): boolean | undefined {
  const text = host.replace(/^\[(.*)\]$/, "$1");
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.parse(text);
  const isIn = (network: (typeof PRIVATE)[number]) =>
    network[0].kind() === address.kind() && address.match(network);
  if (address.range() !== "unicast" || PRIVATE.some(isIn)) return true;
  return address.kind() === "ipv6" && !isIn(GLOBAL_V6);
}

function privateAddressError(): AppError {
  return blocked("leads to a private address, which isn't in FETCH_ALLOW");
}

function blocked(why: string): AppError {
  return new AppError("blocked_address", `The URL ${why}; give a public one.`);
}

function isPrivateName(host: string): boolean {
  const name = host.replace(/\.$/, "");
  const labels = name.split(".");
  const isPrivate = PRIVATE_SUFFIXES.some((suffix) => `.${name}`.endsWith(suffix));
  return labels.length < 2 || labels.includes("") || isPrivate;
}

const RESOLVER = "https://cloudflare-dns.com/dns-query";
const TYPES = { A: 1, AAAA: 28 };

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
  return [...v4, ...v6].map((address) => {
    const host = address.includes(":") ? `[${address}]` : address;
    return URL.parse(`http://${host}`)?.hostname ?? address;
  });
}

const dnsResponse = z.object({
  Answer: z.array(z.object({ type: z.int(), data: z.string() })).default([]),
});
