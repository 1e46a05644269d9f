/** Runs work and renews its lease every `everyMs` until the work ends. */
export async function withLeaseRenewal<T>(
  renew: () => Promise<unknown>,
  everyMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const renewal = setInterval(() => {
    renew().catch(ignoreRenewal);
  }, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
  }
}

/** Ignores the error of a renewal: the next one makes up for it, or the lease expires. */
function ignoreRenewal(): void {}
