/**
 * Does `work`, and renews the lease on it all the while. A renewal that is lost is made good by the next, or the
 * lease runs out.
 */
export async function renewing<T>(
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
