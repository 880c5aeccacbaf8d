/** The error that ends work whose signal was aborted. */
export const abortError = (signal: AbortSignal): DOMException =>
  new DOMException("The model's answer was no longer wanted.", { name: "AbortError", cause: signal.reason });
