/** The environment variable with the milliseconds of work that a planted slowdown adds to every request. */
export const SLOWDOWN_MS = "BENCH_SLOWDOWN_MS";
