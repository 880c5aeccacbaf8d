/** Something of an organization's that waits for its turn. */
export interface Queued {
  organization_id: string;
}

/** A queue in which the organizations take turns: whoever brings a thousand waits for its own, and nobody else does. */
export function createFairQueue<T extends Queued>() {
  const waiting = new Map<string, T[]>();
  let size = 0;

  return {
    size: (): number => size,
    add(item: T): void {
      const line = waiting.get(item.organization_id);
      if (line) line.push(item);
      else waiting.set(item.organization_id, [item]);
      size++;
    },
    /** The first of the organization that has waited longest. */
    next(): T | undefined {
      const [first] = waiting;
      if (!first) return undefined;
      const [organization, line] = first;
      const item = line.shift()!;
      waiting.delete(organization);
      if (line.length > 0) waiting.set(organization, line);
      size--;
      return item;
    },
    clear(): void {
      waiting.clear();
      size = 0;
    },
  };
}
