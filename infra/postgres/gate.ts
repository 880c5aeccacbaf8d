import type { Gate } from "#events/ports.ts";

/** A gate that is open at first. `set` notifies listeners of a change, and returns whether there was one. */
export function createGate(): Gate & { set(isOpen: boolean): boolean } {
  const listeners = new Set<(isOpen: boolean) => void>();
  let open = true;
  return {
    isOpen: () => open,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(isOpen) {
      if (isOpen === open) return false;
      open = isOpen;
      for (const listener of listeners) listener(open);
      return true;
    },
  };
}
