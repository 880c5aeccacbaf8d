export type Slots = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets so much work run at once; the rest waits in order. */
export function createSlots(most: number): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return async (work) => {
    if (taken < most) taken++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else taken--;
    }
  };
}
