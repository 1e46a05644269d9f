/** Ignores the error of ending a stream that isn't read any more: the service may have ended it. */
export function ignoreAfterUse(): void {}
