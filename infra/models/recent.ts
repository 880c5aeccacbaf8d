/** A map that keeps the values used most recently, and makes what is missing. */
export function recent<V>(capacity: number): (key: string, make: () => V) => V {
  const values = new Map<string, V>();
  return (key, make) => {
    const value = values.has(key) ? (values.get(key) as V) : make();
    values.delete(key);
    values.set(key, value);
    if (values.size > capacity) values.delete(values.keys().next().value!);
    return value;
  };
}
