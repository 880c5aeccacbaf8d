/** A busy or broken provider may answer later; any other refusal is its last word. */
export const mayPass = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500;
