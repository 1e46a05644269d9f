/** Calls of an invocation that the platform limits (`INVOCATION`), so far. */
export interface InvocationCalls {
  /** Statements that D1 has run: each one of a batch counts. */
  queries: number;
  /** Calls of bindings. */
  subrequests: number;
}

export function newInvocationCalls(): InvocationCalls {
  return { queries: 0, subrequests: 0 };
}
