/** Smaller buffers may share their memory with others, and are not worth it. */
const MIN_BYTES = 1_000_000;

/**
 * Gives back the memory of a large buffer that nobody reads any more: the garbage collector leaves hundreds of megabytes of them
 * side by side.
 */
export function releaseBuffer({ length, buffer }: Buffer): void {
  if (length >= MIN_BYTES && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
