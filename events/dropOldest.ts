/** Drops the entries that were added first, until at most `max` are left. */
export function dropOldest(entries: Map<unknown, unknown>, max: number): void {
  while (entries.size > max) entries.delete(entries.keys().next().value);
}
