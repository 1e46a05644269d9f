/** What a generated client is given for its journey. */
export interface JourneyInput {
  /** URL of the service, without a slash at the end. */
  url: string;
  apiKey: string;
  indexName: string;
  image: Blob;
}

/** What both clients must find. */
export interface JourneyResult {
  title: string;
  states: string[];
  found: string[];
  grounded: boolean;
  citedMarkers: number[];
  issues: (string | number)[][];
  queuedState: string | undefined;
  deletion: string;
}

/** Calls `read` until it returns a value, at most for ten minutes. */
export async function poll<T>(read: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + 600_000;
  while (Date.now() < end) {
    const value = await read();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("It took longer than ten minutes.");
}
