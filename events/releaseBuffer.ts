/** Smaller buffers may share their memory with others, and freeing them gains little. */
const MIN_BYTES = 1_000_000;

/** Frees the memory of a large buffer that nobody reads any more. The garbage collector would let hundreds of megabytes of them pile up. */
export function releaseBuffer({ length, buffer }: Buffer): void {
  if (length >= MIN_BYTES && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
