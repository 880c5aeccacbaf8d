/* A thread's status in shared memory. The main thread reads it while the thread computes and receives no messages. */

const RUNNING = 0;
const SLICE = 1;
const KIBIBYTES = 2;
const SPECULATIVE = 3;

export const newThreadStatus = (): SharedArrayBuffer => new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT);

/** The thread's own side. */
export function writeThreadStatus(shared: SharedArrayBuffer) {
  const status = new Int32Array(shared);
  return {
    /** A script starts to compute. */
    enter(id: number): void {
      Atomics.add(status, SLICE, 1);
      Atomics.store(status, RUNNING, id + 1);
    },
    leave: (): void => void Atomics.store(status, RUNNING, 0),
    /** A speculative step starts or ends. It has a shorter limit. */
    setSpeculative(isSpeculative: boolean): void {
      Atomics.add(status, SLICE, 1);
      Atomics.store(status, SPECULATIVE, isSpeculative ? 1 : 0);
    },
    /** Memory of all VMs of the thread. */
    setBytes: (bytes: number): void => void Atomics.store(status, KIBIBYTES, Math.ceil(bytes / 1_024)),
  };
}

export interface ThreadStatus {
  /** The order it is computing; null while it computes nothing. */
  id: number | null;
  /** Counts how often it started computing. */
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
