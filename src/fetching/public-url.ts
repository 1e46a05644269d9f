import { AppError } from "../errors.ts";

/** Special-purpose networks (RFC 6890 and successors) and the metadata address of a cloud. */
const PRIVATE_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
].map(toNetwork);

/** Global unicast, without Teredo, 6to4, identifiers (ORCHID) and documentation. */
const PUBLIC_V6 = toNetwork("2000::/3");
const PRIVATE_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"].map(toNetwork);

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
 * Parses a URL that may be fetched: http or https, without credentials, to a public address or a
 * public-looking name, and not to another protocol's port. `allowed` lists `host:port`s, separated
 * by commas, that are exempt from the last two rules. The URL parser normalises every notation of
 * an address. Throws `blocked_address`.
 */
export function requirePublicUrl(text: string, allowed: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw blocked("is not an http or https URL");
  if (url.username || url.password) throw blocked("carries a user name or password");
  if (isExempt(url, allowed)) return url;
  if (BAD_PORTS.has(url.port)) throw blocked(`names port ${url.port}, which another protocol uses`);
  if (isPrivateAddress(url.hostname) ?? isPrivateName(url.hostname)) throw privateAddressError();
  return url;
}

export function isExempt({ host }: URL, allowed: string): boolean {
  return allowed.split(",").includes(host);
}

/** Says if a URL's `hostname` is a private address; undefined for a name. */
export function isPrivateAddress(host: string): boolean | undefined {
  if (host.startsWith("[")) {
    const address = v6(host.slice(1, -1));
    const isIn = inNetwork(address);
    return !isIn(PUBLIC_V6) || PRIVATE_V6.some(isIn);
  }
  return /^\d+\.\d+\.\d+\.\d+$/.test(host) ? PRIVATE_V4.some(inNetwork(v4(host))) : undefined;
}

export function privateAddressError(): AppError {
  return blocked("leads to a private address");
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

interface Network {
  /** The common leading bits of its addresses. */
  prefix: bigint;
  /** The number of bits after the prefix. */
  hostBits: bigint;
}

function toNetwork(text: string): Network {
  const [address = "", bits] = text.split("/");
  const isV6 = address.includes(":");
  const hostBits = BigInt((isV6 ? 128 : 32) - Number(bits));
  return { prefix: (isV6 ? v6(address) : v4(address)) >> hostBits, hostBits };
}

function inNetwork(address: bigint): (network: Network) => boolean {
  return ({ prefix, hostBits }) => address >> hostBits === prefix;
}

function v4(text: string): bigint {
  return text.split(".").reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

/** Parses hextets, with or without `::`. */
function v6(text: string): bigint {
  const [head = [], tail = []] = text.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].reduce(
    (sum, hextet) => (sum << 16n) | BigInt(`0x${hextet}`),
    0n,
  );
}
