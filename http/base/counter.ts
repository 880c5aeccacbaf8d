/** Counts by name. A name whose count is 0 takes no memory. */
export function createCounter() {
  const counts = new Map<string, number>();
  const count = (name: string): number => counts.get(name) ?? 0;
  return {
    count,
    add(name: string, by: number): void {
      const now = count(name) + by;
      if (now === 0) counts.delete(name);
      else counts.set(name, now);
    },
  };
}

export type Counter = ReturnType<typeof createCounter>;
