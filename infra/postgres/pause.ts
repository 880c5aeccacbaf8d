/** A pause that events can cut short. */
export interface InterruptiblePause {
  /** Resolves after this time, or earlier if it is cut. One call at a time. */
  wait(ms: number): Promise<void>;
  /** Ends the current pause within this time; 0 ends it at once. Never prolongs it. */
  cut(within_ms: number): void;
}

export function createInterruptiblePause(): InterruptiblePause {
  let ends_at = 0;
  let timer: NodeJS.Timeout | undefined;
  let end = () => {};
  const endAfter = (ms: number): void => {
    clearTimeout(timer);
    ends_at = performance.now() + ms;
    timer = setTimeout(() => end(), ms);
  };
  return {
    wait: (ms) =>
      new Promise((resolve) => {
        end = () => {
          clearTimeout(timer);
          ends_at = 0;
          end = () => {};
          resolve();
        };
        endAfter(ms);
      }),
    cut(within_ms) {
      if (within_ms === 0) end();
      else if (performance.now() + within_ms < ends_at) endAfter(within_ms);
    },
  };
}
