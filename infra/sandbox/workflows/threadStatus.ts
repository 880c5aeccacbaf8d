/* The status of a thread in shared memory, which the main thread reads while the thread computes and receives no messages. */

const RUNNING = 0;
const SLICE = 1;
const KIBIBYTES = 2;
const SPECULATIVE = 3;

export const newThreadStatus = (): SharedArrayBuffer => new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT);

/** For the thread itself. */
export function writeThreadStatus(shared: SharedArrayBuffer) {
  const status = new Int32Array(shared);
  return {
    /** A script starts to compute. */
    enter(id: number): void {
      Atomics.add(status, SLICE, 1);
      Atomics.store(status, RUNNING, id + 1);
    },
    leave: (): void => void Atomics.store(status, RUNNING, 0),
    /** A speculative step starts or ends; it has a shorter limit. */
    setSpeculative(isSpeculative: boolean): void {
      Atomics.add(status, SLICE, 1);
      Atomics.store(status, SPECULATIVE, isSpeculative ? 1 : 0);
    },
    /** Memory of all VMs of the thread. */
    setBytes: (bytes: number): void => void Atomics.store(status, KIBIBYTES, Math.ceil(bytes / 1_024)),
  };
}

export interface ThreadStatus {
  /** What it computes; null while it computes nothing. */
  id: number | null;
  /** Counts how often it started to compute. */
  slice: number;
  bytes: number;
  isSpeculative: boolean;
}

export function readThreadStatus(shared: SharedArrayBuffer): ThreadStatus {
  const status = new Int32Array(shared);
  const running = Atomics.load(status, RUNNING);
  return {
    id: running === 0 ? null : running - 1,
    slice: Atomics.load(status, SLICE),
    bytes: Atomics.load(status, KIBIBYTES) * 1_024,
    isSpeculative: Atomics.load(status, SPECULATIVE) === 1,
  };
}
