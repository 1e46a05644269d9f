/** Treats a body that isn't JSON as one that says nothing. */
export function treatAsInvalid(): null {
  return null;
}

/** Ignores the error of a promise that is awaited later: whoever awaits it gets the error. */
export function ignoreUntilAwaited(): void {}

/** Ignores the error of ending something that isn't needed any more: its other end may have. */
export function ignoreAfterUse(): void {}
