/** The fields of `after` whose values differ from those in `before`. */
export const pickChanges = <T extends object>(before: T, after: Partial<T>): Partial<T> =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof T])),
  ) as Partial<T>;
