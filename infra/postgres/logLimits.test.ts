import { expect, test, vi } from "vitest";
import { watchLogLimits } from "./logLimits.ts";

const settings = { ORGANIZATION_LOG_MEGABYTES: 1, ORGANIZATION_MEGABYTES: 2 };
const open = (query: () => Promise<{ id: string; by_events: boolean }[]>) => {
  const logger = { warn: vi.fn(), info: vi.fn() };
  return { logger, ...watchLogLimits({ db: { query } as never, settings, logger }) };
};

test("an organization over the limit is refused until it is within it, and both are logged once", async () => {
  let over = ["o1"];
  const { refusal, countReached, look, stop, logger } = open(async () => over.map((id) => ({ id, by_events: true })));
  await look();
  await look();
  expect(refusal("o1")).toEqual({
    code: "storage_limit_reached",
    message: expect.stringMatching(/more than 1 MB.*ORGANIZATION_LOG_MEGABYTES/),
  });
  expect([refusal("o2"), countReached()]).toEqual([undefined, 1]);
  expect(logger.warn.mock.calls.map(([fields]) => fields)).toEqual([{ organization_id: "o1", limited: "events" }]);
  over = [];
  await look();
  expect([refusal("o1"), countReached()]).toEqual([undefined, 0]);
  expect(logger.info).toHaveBeenCalledTimes(1);
  await stop();
});

test("a look that fails keeps the last figures, and is logged", async () => {
  let fails = false;
  const query = async () => {
    if (fails) throw new Error("gone");
    return [{ id: "o1", by_events: false }];
  };
  const watch = open(query);
  await watch.look();
  fails = true;
  await expect(watch.look()).rejects.toThrow("gone");
  expect(watch.refusal("o1")?.message).toMatch(/more than 2 MB.*ORGANIZATION_MEGABYTES/);
  await watch.stop();

  const broken = open(query);
  await vi.waitFor(() => expect(broken.logger.warn).toHaveBeenCalled());
  expect(broken.logger.warn.mock.calls[0]![0].err.message).toBe("gone");
  await broken.stop();
});
