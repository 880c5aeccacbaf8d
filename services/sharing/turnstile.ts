/** Callers that pass per turn of the event loop. A refused request takes 0.3 ms, so this is a few milliseconds. */
const MAX_IN_TURN = 8;

/**
 * Limits how many callers pass per turn of the event loop; the others pass in later turns, in order. Otherwise work that ends
 * without waiting starts the next piece in the same turn, and hundreds of refusals block the loop together.
 */
export function createTurnstile(perTurn = MAX_IN_TURN) {
  const waiting: (() => void)[] = [];
  /** Callers that have passed in this turn of the event loop; 0 while no turn is counted. */
  let passed = 0;

  function nextTurn(): void {
    const group = waiting.splice(0, perTurn);
    passed = group.length;
    if (passed > 0) setImmediate(nextTurn);
    for (const pass of group) pass();
  }

  return {
    async pass(): Promise<void> {
      if (passed === 0) setImmediate(nextTurn);
      if (passed < perTurn) passed += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
