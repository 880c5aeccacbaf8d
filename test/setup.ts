import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { cleanUp, limitStart } from "./cleanUp.ts";

/* Vitest runs this before every test file. Files share worker processes, so timers, variables and servers of one must not reach the next. */

beforeAll(limitStart());
afterEach(() => cleanUp("test"));
afterAll(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  await cleanUp("file");
});
