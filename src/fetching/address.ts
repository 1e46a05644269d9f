import { AppError } from "../errors.ts";

/** Networks that are nobody's business from outside: [address, prefix bits]. RFC 6890 and successors. */
const PRIVATE_V4: [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

const PRIVATE_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|localdomain|arpa)$/;

/**
 * The URL, where it is one that we may fetch: http or https, without credentials, to a public
 * address. `allowed` lists `host:port`s that are exempt from the last. Throws `blocked_address`.
 * Decimal, octal, hex and short IPv4 notations are normalised by the URL parser before the check.
 */
export function requirePublicUrl(text: string, allowed: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw blocked("is not an http or https URL");
  if (url.username || url.password) throw blocked("carries a user name or password");
  if (allowed.split(",").includes(url.host)) return url;
  const host = url.hostname.replace(/\.$/, "").toLowerCase();
  const isPrivate = host.startsWith("[")
    ? isPrivateV6(host.slice(1, -1))
    : (isPrivateV4(host) ?? (PRIVATE_NAMES.test(host) || !host.includes(".")));
  if (isPrivate) throw blocked("leads to a private address");
  return url;
}

function blocked(why: string): AppError {
  return new AppError("blocked_address", `The URL ${why}; give a public one.`);
}

/** Undefined where `host` is no IPv4 address. */
function isPrivateV4(host: string): boolean | undefined {
  const address = toNumber(host);
  if (address === undefined) return undefined;
  return PRIVATE_V4.some(([network, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(address / size) === Math.floor(toNumber(network)! / size);
  });
}

function toNumber(host: string): number | undefined {
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(host)) return undefined;
  return host.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0);
}

/** Only 2000::/3 is public, less what embeds an IPv4 address or documents. */
function isPrivateV6(host: string): boolean {
  const first = Number.parseInt(host.split(":")[0] || "0", 16);
  const isGlobal = first >= 0x2000 && first <= 0x3fff;
  return !isGlobal || host.startsWith("2002:") || /^2001:(0|db8|1[0-9a-f]|2[0-9a-f])?:/.test(host);
}
