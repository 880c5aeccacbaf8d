/** The function, called once for each name. */
export const remembered = <T>(make: (name: string) => T): ((name: string) => T) => {
  const known = new Map<string, T>();
  return (name) => {
    if (!known.has(name)) known.set(name, make(name));
    return known.get(name)!;
  };
};
