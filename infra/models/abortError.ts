/** The AbortError that ends a request whose signal was aborted. */
export const abortError = (signal: AbortSignal): DOMException =>
  new DOMException("The request to the model was aborted.", { name: "AbortError", cause: signal.reason });
