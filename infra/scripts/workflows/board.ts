/* What a thread shows of itself while it computes and hears nothing: shared memory that the process's main thread looks at. */

const RUNNING = 0;
const SLICE = 1;
const KIBIBYTES = 2;
const AHEAD = 3;

export const newBoard = (): SharedArrayBuffer => new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT);

/** For the thread. */
export function openBoard(shared: SharedArrayBuffer) {
  const board = new Int32Array(shared);
  return {
    /** A script begins to compute. */
    enter(id: number): void {
      Atomics.add(board, SLICE, 1);
      Atomics.store(board, RUNNING, id + 1);
    },
    leave: (): void => void Atomics.store(board, RUNNING, 0),
    /** A step is run ahead of its time, for which there is less of it. */
    ahead(runs: boolean): void {
      Atomics.add(board, SLICE, 1);
      Atomics.store(board, AHEAD, runs ? 1 : 0);
    },
    /** What all its VMs hold. */
    hold: (bytes: number): void => void Atomics.store(board, KIBIBYTES, Math.ceil(bytes / 1_024)),
  };
}

/** For who looks at the thread. `id` is null while it computes nothing; `slice` counts how often it began. */
export function readBoard(shared: SharedArrayBuffer): {
  id: number | null;
  slice: number;
  bytes: number;
  isAhead: boolean;
} {
  const board = new Int32Array(shared);
  const running = Atomics.load(board, RUNNING);
  return {
    id: running === 0 ? null : running - 1,
    slice: Atomics.load(board, SLICE),
    bytes: Atomics.load(board, KIBIBYTES) * 1_024,
    isAhead: Atomics.load(board, AHEAD) === 1,
  };
}
