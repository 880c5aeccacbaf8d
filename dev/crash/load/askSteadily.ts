/** Sends requests at a steady pace, whether or not earlier ones are answered. `stop` waits for outstanding answers. */
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
