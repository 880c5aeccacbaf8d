import { AsyncLocalStorage } from "node:async_hooks";

/* The organization that the running code works for; elsewhere it is passed on. Here it only says whose share a query takes. */

const current = new AsyncLocalStorage<string | undefined>();

/** Undefined for what is nobody's: followers, sweeps, and look-ups that several organizations share. */
export const currentOwner = (): string | undefined => current.getStore();

/** Runs work for an organization, or for nobody. Promises, timers and callbacks inherit it from the code that created them. */
export const withOwner = <T>(owner: string | undefined, work: () => T): T => current.run(owner, work);
