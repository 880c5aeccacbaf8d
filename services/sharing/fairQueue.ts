/**
 * A queue in which tenants take turns: if one tenant adds a thousand items, only its own items wait for them. `rankOf`: a tenant's
 * items of lower rank go first.
 */
export function createFairQueue<T>(rankOf: (item: T) => number = () => 0) {
  /** In the order of turns: a served tenant moves to the end. */
  const waiting = new Map<string, T[]>();
  let size = 0;

  return {
    size: (): number => size,
    sizeOf: (tenant: string): number => waiting.get(tenant)?.length ?? 0,
    add(tenant: string, item: T): void {
      const items = waiting.get(tenant);
      if (items) items.splice(items.findLastIndex((other) => rankOf(other) <= rankOf(item)) + 1, 0, item);
      else waiting.set(tenant, [item]);
      size += 1;
    },
    /** Takes the first item of the next tenant that `isEligible` accepts. */
    next(isEligible: (tenant: string, oldest: T) => boolean = () => true): T | undefined {
      const found = waiting.entries().find(([tenant, items]) => isEligible(tenant, items[0]!));
      if (found === undefined) return undefined;
      const [tenant, items] = found;
      const item = items.shift();
      waiting.delete(tenant);
      if (items.length > 0) waiting.set(tenant, items);
      size -= 1;
      return item;
    },
    /** Takes an item out before its turn. */
    remove(tenant: string, item: T): void {
      const items = waiting.get(tenant);
      const index = items?.indexOf(item) ?? -1;
      if (!items || index < 0) return;
      items.splice(index, 1);
      if (items.length === 0) waiting.delete(tenant);
      size -= 1;
    },
    clear(): void {
      waiting.clear();
      size = 0;
    },
  };
}
