/** Bytes that come in chunks, as a request's body does. */
export type ByteSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
