/** Asks at a steady pace, whether or not the last ones have been answered. `stop` waits for the answers that are on their way. */
export function askSteadily(every_ms: number, ask: () => Promise<void>[]) {
  const asking = new Set<Promise<void>>();
  const timer = setInterval(() => {
    for (const one of ask()) {
      const asked = one.finally(() => asking.delete(asked));
      asking.add(asked);
    }
  }, every_ms);
  return {
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all(asking);
    },
  };
}
