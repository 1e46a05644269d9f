/**
 * Runs work and renews its lease every `everyMs` until the work ends. Errors of a renewal are
 * ignored: the next renewal makes up for one, or the lease expires.
 */
export async function withLeaseRenewal<T>(
  renew: () => Promise<unknown>,
  everyMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const renewal = setInterval(() => {
    renew().catch(() => undefined);
  }, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
  }
}
