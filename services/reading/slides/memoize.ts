/** Caches the results of a function by name. */
export const memoize = <T>(make: (name: string) => T): ((name: string) => T) => {
  const known = new Map<string, T>();
  return (name) => {
    if (!known.has(name)) known.set(name, make(name));
    return known.get(name)!;
  };
};
