/** Statuses of a busy or broken provider, for which a retry may help. Any other refusal is final. */
export const isTransientStatus = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500;
