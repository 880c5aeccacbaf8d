/** Callers that pass in one turn of the event loop: a refused request costs 0.3 ms, so these hold it for a few. */
const MAX_IN_TURN = 8;

/**
 * Lets few callers pass in one turn of the event loop; the next ones pass in the turns after it, in order. Without it, work that
 * ends without waiting starts the next piece in the same turn, and hundreds of refusals hold the loop as one.
 */
export function createTurnstile(perTurn = MAX_IN_TURN) {
  const waiting: (() => void)[] = [];
  /** Those that passed since the event loop went round; 0 while no turn is counted. */
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
