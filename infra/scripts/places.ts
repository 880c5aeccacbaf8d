/** Someone who waits for a place; `enter` is called once, when it has one. */
interface Waiter {
  enter(): void;
}

/**
 * Places that tenants share: who waits gets one by turns of tenants, and no tenant holds more than `each` of the `places`,
 * so that there is always room for another.
 */
export function createPlaces({ places, each }: { places: number; each: number }) {
  const held = new Map<string, number>();
  const waiting = new Map<string, Waiter[]>();
  let taken = 0;

  const heldBy = (tenant: string) => held.get(tenant) ?? 0;
  const take = (tenant: string): void => {
    taken += 1;
    held.set(tenant, heldBy(tenant) + 1);
  };

  /** Lets in the tenant that has waited longest since its last turn. */
  function letIn(): void {
    if (taken >= places) return;
    const next = [...waiting].find(([tenant]) => heldBy(tenant) < each);
    if (!next) return;
    const [tenant, [first, ...rest]] = next;
    waiting.delete(tenant);
    if (rest.length > 0) waiting.set(tenant, rest);
    take(tenant);
    first!.enter();
    letIn();
  }

  return {
    /** Resolves when the tenant has a place; rejects with the signal's reason when it is aborted before. */
    async enter(tenant: string, signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          const left = (waiting.get(tenant) ?? []).filter((one) => one !== waiter);
          if (left.length > 0) waiting.set(tenant, left);
          else waiting.delete(tenant);
          reject(signal.reason);
        };
        const waiter = {
          enter: () => {
            signal.removeEventListener("abort", leave);
            resolve();
          },
        };
        signal.addEventListener("abort", leave, { once: true });
        waiting.set(tenant, [...(waiting.get(tenant) ?? []), waiter]);
        letIn();
      });
    },
    /** Gives a place to others, while the tenant counts as if it still had it: until `leave(tenant, true)`. */
    lend(): void {
      taken -= 1;
      letIn();
    },
    leave(tenant: string, isLent = false): void {
      if (!isLent) taken -= 1;
      const left = heldBy(tenant) - 1;
      if (left > 0) held.set(tenant, left);
      else held.delete(tenant);
      letIn();
    },
  };
}
