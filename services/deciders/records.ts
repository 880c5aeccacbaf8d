/*
 * Changes of records in a state. A state is never changed, so each change copies its record, which takes a millisecond for a
 * thousand keys. A fold copies each record once: it may change its own copies, because nobody has seen them.
 */

/** Runs one step. */
export type Fold = <T>(step: () => T) => T;

/** The copies of the fold that runs now; undefined: none does. */
let copies: WeakSet<object> | undefined;

/**
 * Creates a fold, which evolves a state step by step. Only its last state may be kept: a step may change the records of the state
 * before.
 */
export function createFold(): Fold {
  const own = new WeakSet<object>();
  return (step) => {
    const outer = copies;
    copies = own;
    try {
      return step();
    } finally {
      copies = outer;
    }
  };
}

function changeable<T>(record: Record<string, T>): Record<string, T> {
  if (copies?.has(record)) return record;
  const copy = { ...record };
  copies?.add(copy);
  return copy;
}

/** The record with this value. A new key becomes the last one. */
export function put<T>(record: Record<string, T>, key: string, value: NoInfer<T>): Record<string, T> {
  const changed = changeable(record);
  changed[key] = value;
  return changed;
}

export function without<T>(record: Record<string, T>, key: string): Record<string, T> {
  const changed = changeable(record);
  delete changed[key];
  return changed;
}
